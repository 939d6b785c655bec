import json

import pytest

from informers.api.errors import ApiError, InternalError, TooManyRequests
from informers.api.resources import Resource
from informers.client.retry import Retry
from informers.client.server import Server
from informers.clock import VirtualClock
from tests.informers.client.servers import answer, serving

TEAMS = Resource("example.com", "v1", "teams")
GOOD = answer(json.dumps({"metadata": {"name": "red", "resourceVersion": "1"}}).encode())


def refusal(code, **headers):
    return answer(
        json.dumps({"kind": "Status", "code": code, "message": f"no {code}"}).encode(), status=code, **headers
    )


class Busy:
    """A server that gives these answers one after the other, and a client that talks to it."""

    def __init__(self, *answers, retry=Retry()):  # noqa: B008 -- frozen
        self.answers = list(answers)
        self.clock = VirtualClock()
        self.retry = retry
        self.noticed = []

    async def handle(self, asked, writer):
        writer.write(self.answers.pop(0))

    async def run(self, call):
        async with serving(self.handle) as served, Server.from_address(served.address) as plain:
            server = Server(
                "busy", plain.transport, retry=self.retry, noticed=self.noticed.append, clock=Sleeper(self.clock)
            )
            return await call(server.client())


class Sleeper:
    """A virtual clock that moves on by itself when somebody sleeps: sockets know no virtual time."""

    def __init__(self, clock):
        self.clock = clock

    async def sleep(self, seconds):
        await self.clock.advance(seconds)


async def get(client):
    return await client.get(TEAMS, "red")


async def test_what_a_server_turned_away_for_now_is_sent_again_when_it_said():
    busy = Busy(refusal(429, Retry_After="2"), refusal(503, Retry_After="5"), GOOD)

    found = await busy.run(get)

    assert found.name == "red"
    assert busy.clock.monotonic() == 7
    assert [(one.server, one.attempt, one.delay, one.error) for one in busy.noticed] == [
        ("busy", 1, 2.0, "no 429"),
        ("busy", 2, 5.0, "no 503"),
    ]
    assert (busy.noticed[0].method, busy.noticed[0].target) == ("GET", "/apis/example.com/v1/teams/red")


async def test_writes_are_sent_again_too():
    busy = Busy(refusal(429, Retry_After="1"), GOOD)

    await busy.run(lambda client: client.patch(TEAMS, "red", {"spec": 1}))

    assert len(busy.noticed) == 1


@pytest.mark.parametrize("answer", [refusal(429), refusal(500), refusal(409, Retry_After="1"), refusal(404)])
async def test_nothing_else_is_ever_sent_again(answer):
    busy = Busy(answer)

    with pytest.raises(ApiError):
        await busy.run(get)
    assert busy.noticed == []


async def test_retries_end_after_so_many_tries():
    busy = Busy(*[refusal(429, Retry_After="1")] * 9)

    with pytest.raises(TooManyRequests):
        await busy.run(get)

    assert len(busy.answers) == 6


async def test_a_wait_beyond_the_whole_time_is_not_begun():
    busy = Busy(*[refusal(500, Retry_After="20")] * 9)

    with pytest.raises(InternalError):
        await busy.run(get)

    assert busy.clock.monotonic() == 20
    assert len(busy.answers) == 7


async def test_a_policy_may_allow_none():
    busy = Busy(refusal(429, Retry_After="1"), retry=Retry(tries=1))

    with pytest.raises(TooManyRequests):
        await busy.run(get)
