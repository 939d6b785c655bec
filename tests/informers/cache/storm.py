"""What can go wrong with a server, as steps that tests take in any order."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from informers.api.errors import Disconnected
from tests.informers.cache.rig import Rig
from tests.informers.cache.scripted import Server, Stream, bookmark_line, event_line, failure, status_line, too_large


class Storm:
    """A server's fate: one method for each thing that can happen to it."""

    def __init__(self, server: Server, rig: Rig) -> None:
        self._server = server
        self._rig = rig
        self._histories = 0

    def put(self, name: str) -> None:
        self._server.put(name, spec={"revision": self._server.revision})

    def delete(self, name: str) -> None:
        if name in self._server.objects:
            self._server.delete(name)

    def malform(self, name: str) -> None:
        meta = {"name": name, "labels": 5, "resourceVersion": str(self._server.revision + 1)}
        self._server.put_raw(name, json.dumps({"metadata": meta}).encode())

    def unname(self, name: str) -> None:
        self._server.put_raw(name, b'{"metadata":{"labels":{}}}')

    def cut(self, _: None) -> None:
        self._server.cut()

    def close(self, _: None) -> None:
        self._server.close_watches()

    def mute(self, _: None) -> None:
        for stream in self._server.open_streams:
            stream.mute()

    def go_down(self, _: None) -> None:
        self._server.go_down()

    def come_up(self, _: None) -> None:
        self._server.down = False

    def compact(self, _: None) -> None:
        self._server.compact()

    def lose_history(self, _: None) -> None:
        """Go back further than anybody has seen: a new history that has overtaken the old one cannot be told apart."""
        self._histories += 1
        self._server.lose_history(100_000 - 1000 * self._histories)

    def force(self, _: None) -> None:
        self._rig.informer.force_relist()

    def fail_list(self, code: int) -> None:
        self._server.fail_next("list", failure_of(code))

    def fail_watch(self, code: int) -> None:
        self._server.fail_next("watch", failure_of(code))

    def send_error(self, code: int) -> None:
        self._server.send(status_line(code, "Expired" if code == 410 else ""))

    def repeat(self, number: int) -> None:
        if self._server.history:
            self._server.send(self._server.history[number % len(self._server.history)][1])

    def send_old_bookmark(self, revision: int) -> None:
        self._server.send(bookmark_line(revision))

    def send_garbage(self, line: bytes) -> None:
        self._server.send(line)

    def short_watch(self, _: None) -> None:
        self._server.fail_next("watch", Stream.end)

    def half_stream(self, count: int) -> None:
        self._server.fail_next("state", lambda stream: (self._send_state(stream, count), stream.end())[0])

    def cut_stream(self, count: int) -> None:
        self._server.fail_next("state", lambda s: (self._send_state(s, count), s.end(Disconnected("cut")))[0])

    def unmarked_stream(self, _: None) -> None:
        self._server.fail_next("state", self._send_state)

    def know_streams(self, known: bool) -> None:
        self._server.streams_state = known

    def know_bookmarks(self, known: bool) -> None:
        self._server.bookmarks = known

    def page_size(self, size: int) -> None:
        self._server.largest_page = size

    def latency(self, seconds: float) -> None:
        self._server.latency = seconds

    async def pass_by(self) -> None:
        """Let the server be healthy again, and wait longer than anything may take to be noticed."""
        server = self._server
        server.down, server.latency, server.largest_page = False, 0.0, 0
        server.faults = {verb: type(queue)() for verb, queue in server.faults.items()}
        for name, raw in server.objects.items():
            if "uid" not in json.loads(raw)["metadata"]:
                server.put(name)
        await self._rig.clock.advance(700)

    def _send_state(self, stream: Stream, count: int | None = None) -> None:
        stream.send(*[event_line("ADDED", raw) for raw in list(self._server.objects.values())[:count]])


def failure_of(code: int) -> Any:
    return too_large(1) if code == 504 else failure(code, "Expired" if code == 410 else "", retry_after=code == 503)


pauses = st.sampled_from([None, 0.0, 0.0, 0.3, 1.5, 1.5, 4.0, 4.0, 20.0, 70.0, 400.0])
"""Seconds after a step; None lets the next one follow before anybody can react."""


def step(what: Callable[[Storm, Any], Any], argument: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(what), argument, pauses)


names = st.sampled_from("abcde")
codes = st.sampled_from([400, 401, 403, 404, 410, 429, 500, 503, 504])
steps = st.one_of(
    *[step(Storm.put, names)] * 3,
    step(Storm.delete, names),
    *[step(what, names) for what in (Storm.malform, Storm.unname)],
    *[step(what, st.none()) for what in (Storm.cut, Storm.close, Storm.mute, Storm.go_down, Storm.come_up)],
    *[step(what, st.none()) for what in (Storm.compact, Storm.lose_history, Storm.force)],
    *[step(what, st.none()) for what in (Storm.short_watch, Storm.unmarked_stream)],
    *[step(what, codes) for what in (Storm.fail_list, Storm.fail_watch, Storm.send_error)],
    *[step(what, st.integers(0, 3)) for what in (Storm.half_stream, Storm.cut_stream, Storm.page_size)],
    *[step(what, st.booleans()) for what in (Storm.know_streams, Storm.know_bookmarks)],
    step(Storm.repeat, st.integers(0, 30)),
    step(Storm.send_old_bookmark, st.integers(1, 30)),
    step(Storm.send_garbage, st.sampled_from([b"{", b"[]", b'{"type":"BOOKMARK","object":1}'])),
    step(Storm.latency, st.sampled_from([0.0, 0.5])),
)
