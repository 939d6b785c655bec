"""Informers over real sockets: what only real bytes can show."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from informers.api.resources import Collection
from informers.cache.facts import Backed, Fact, FellBack, Listed, WatchEnded
from informers.cache.informer import SharedInformer
from informers.cache.policy import Policy
from informers.cache.recovery import Trouble
from informers.client.server import Server
from informers.clock import VirtualClock
from informers.tasks import background
from tests.informers.cache.making import WIDGETS, body
from tests.informers.cache.scripted import bookmark_line, event_line
from tests.informers.client.servers import LAST_CHUNK, Asked, Serving, answer, chunk, opening, serving

Script = Callable[[Asked, asyncio.StreamWriter], Any]
"""What a server does with one request."""


class Rig:
    """An informer on virtual time at a real socket."""

    def __init__(self, server: Server, policy: Policy) -> None:
        self.clock = VirtualClock()
        self.facts: list[Fact] = []
        self.informer: SharedInformer[Any] = SharedInformer(
            server.client(), Collection(WIDGETS), observe=self.facts.append, clock=self.clock, policy=policy
        )

    async def until(self, reached: Callable[[], Any]) -> None:
        """Let the sockets work until something is so."""
        async with asyncio.timeout(20):
            while not reached():
                await asyncio.sleep(0.001)

    def reasons(self, *kinds: type[Any]) -> list[Trouble]:
        """Return the reasons of all facts of these kinds."""
        return [fact.reason for fact in self.facts if isinstance(fact, kinds)]

    @property
    def names(self) -> list[str]:
        return sorted(obj.name for obj in self.informer.store)


@asynccontextmanager
async def informer(*scripts: Script, stream: bool = True, compress: bool = False) -> AsyncIterator[tuple[Rig, Serving]]:
    """Run an informer whose requests are answered by the scripts, one after the other, the last one from then on."""
    left = list(scripts)

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        script = left.pop(0) if len(left) > 1 else left[0]
        script(asked, writer)

    async with serving(handler) as served, Server.from_address(served.address, compress=compress) as server:
        rig = Rig(server, Policy(stream=stream))
        async with background(rig.informer.run()):
            yield rig, served


def state(*names: str, revision: int = 10) -> bytes:
    lines = [event_line("ADDED", body(name, rv=5)) for name in names]
    return b"\n".join([*lines, bookmark_line(revision, ends_state=True)]) + b"\n"


def stream_of(*pieces: bytes, ends: bool = False) -> Script:
    """Open a watch and send each of the pieces as a chunk; the connection stays open unless it ends."""

    def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(opening() + b"".join(map(chunk, pieces)) + (LAST_CHUNK if ends else b""))

    return script


def broken_after(*pieces: bytes) -> Script:
    """Open a watch, send the pieces as chunks, and close the connection in the middle of the next one."""

    def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(opening() + b"".join(map(chunk, pieces)) + b"ff\r\nhalf a chunk")
        writer.close()

    return script


def page(*names: str, revision: int = 10, continue_: str = "") -> Script:
    def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        meta = json.dumps({"resourceVersion": str(revision), "continue": continue_}).encode()
        items = b",".join(body(name, rv=5) for name in names)
        writer.write(answer(b'{"kind":"WidgetList","metadata":%s,"items":[%s]}' % (meta, items)))

    return script


def refusal(code: int, reason: str = "") -> Script:
    def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        status = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": f"scripted {code}"}
        writer.write(answer(json.dumps(status).encode(), status=code))

    return script


async def test_the_state_and_the_watch_are_one_request() -> None:
    event = event_line("ADDED", body("c", rv=11)) + b"\n"

    async with informer(stream_of(state("a", "b") + event)) as (rig, served):
        await rig.until(lambda: rig.names == ["a", "b", "c"])

        assert len(served.asked) == 1
        for part in (
            "watch=true",
            "sendInitialEvents=true",
            "resourceVersionMatch=NotOlderThan",
            "allowWatchBookmarks",
        ):
            assert part in served.asked[0].target
        assert "resourceVersion=&" not in served.asked[0].target
        assert rig.informer.live


HALF_A_LINE = b'{"type":"ADDED","obj'


@pytest.mark.parametrize(
    "broken",
    [
        broken_after(state("a"), event_line("ADDED", body("b", rv=11)) + b"\n", HALF_A_LINE),
        stream_of(state("a"), event_line("ADDED", body("b", rv=11)) + b"\n", HALF_A_LINE, ends=True),
    ],
    ids=["cut", "ended cleanly"],
)
async def test_a_watch_that_ends_inside_a_line_resumes_from_the_last_event(broken: Script) -> None:
    async with informer(broken, page("a", "b", revision=12), stream_of()) as (rig, served):
        await rig.until(lambda: len(served.asked) == 3 and rig.informer.live)

        assert rig.reasons(WatchEnded) == [Trouble.BROKEN]
        assert "limit=1" in served.asked[1].target
        assert "resourceVersion=11" in served.asked[2].target
        assert rig.names == ["a", "b"]


async def test_an_object_of_six_megabytes_is_an_object() -> None:
    large = event_line("ADDED", body("large", rv=11, spec={"data": "x" * 6_000_000})) + b"\n"
    pieces = [large[start : start + 65_536] for start in range(0, len(large), 65_536)]

    async with informer(stream_of(state("a"), *pieces)) as (rig, _):
        await rig.until(lambda: rig.names == ["a", "large"])

        assert rig.informer.statistics().bytes > 6_000_000


async def test_every_member_of_a_compressed_stream_is_read() -> None:
    """Servers close a member at each flush."""
    lines = state("a", "b", "c").splitlines(keepends=True)

    def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        assert "gzip" in asked.headers["accept-encoding"]
        writer.write(opening(Content_Encoding="gzip") + b"".join(chunk(gzip.compress(line)) for line in lines))

    async with informer(script, compress=True) as (rig, _):
        await rig.until(lambda: rig.informer.live)

        assert rig.names == ["a", "b", "c"]


@pytest.mark.parametrize("refused", [refusal(422, "Invalid"), refusal(400), refusal(500), refusal(404)])
async def test_a_server_that_refuses_streams_is_listed_and_watched(refused: Script) -> None:
    event = event_line("ADDED", body("b", rv=11)) + b"\n"

    async with informer(refused, page("a"), stream_of(event)) as (rig, served):
        await rig.until(lambda: rig.names == ["a", "b"])

        assert [type(fact) for fact in rig.facts][:2] == [FellBack, Listed]
        assert "resourceVersion=0" in served.asked[1].target
        assert "limit=500" in served.asked[1].target
        assert "resourceVersion=10" in served.asked[2].target


async def test_an_expired_continue_token_over_http_leads_to_one_whole_list() -> None:
    scripts = (page("a", continue_="next"), refusal(410, "Expired"), page("a", "b"), stream_of())

    async with informer(*scripts, stream=False) as (rig, served):
        await rig.until(lambda: rig.informer.live)

        assert rig.names == ["a", "b"]
        assert "continue=next" in served.asked[1].target
        assert "resourceVersion=" not in served.asked[1].target
        assert "limit" not in served.asked[2].target


async def test_a_watch_refused_as_expired_is_listed_again() -> None:
    scripts = (page("a"), refusal(410, "Expired"), page("b", revision=20), stream_of())

    async with informer(*scripts, stream=False) as (rig, served):
        await rig.until(lambda: rig.reasons(Backed))
        await rig.clock.advance(2)
        await rig.until(lambda: rig.names == ["b"])

        assert rig.reasons(Backed) == [Trouble.EXPIRED]
        assert "resourceVersion=10" in served.asked[2].target


async def test_nobody_listens() -> None:
    async with serving(lambda *_: None) as served:  # type: ignore[arg-type, return-value]
        address = served.address
    async with Server.from_address(address) as server:
        rig = Rig(server, Policy())
        async with background(rig.informer.run()):
            await rig.until(lambda: rig.reasons(Backed))

            assert rig.reasons(Backed) == [Trouble.REFUSED]
            assert address in str(rig.informer.last_error)


@pytest.mark.parametrize("script", [stream_of(), stream_of(state("a")), lambda *_: None, stream_of(state("a"), b"{")])
async def test_an_informer_stopped_at_any_moment_closes_its_connection(script: Script) -> None:
    async with informer(script) as (rig, served):
        await rig.until(lambda: served.asked)
        await asyncio.sleep(0)

    async with asyncio.timeout(20):
        await served.disconnected.wait()
