"""The transport without a socket."""

import asyncio

import pytest

from informers.api.errors import ConnectError, Disconnected, ReadTimeout
from informers.client.transport import Request, Timeouts, Transport
from kcpctl.apiserver.exchange import Answer, Incoming, User
from kcpctl.apiserver.http.inprocess import InProcess
from tests.kcpctl.apiserver.http.applications import Script, Stream

AT_ONCE = Timeouts(idle=0.001, total=None)


async def read(transport: Transport, target: str, timeouts: Timeouts | None = None) -> tuple[int, list[bytes]]:
    response = await transport.send(Request("GET", target, timeouts=timeouts or Timeouts()))
    return response.status, [chunk async for chunk in response.chunks()]


async def test_a_request_arrives_as_on_a_socket() -> None:
    app = Script(a=lambda: Answer(201, (("Content-Type", "text/plain"),), b"done"))
    transport = InProcess(app, user=User("ann"))

    response = await transport.send(Request("POST", "/a?x=1", {"X-Asked": "Yes"}, b"body"))

    assert response.status == 201
    assert response.headers["content-type"] == "text/plain"
    assert [chunk async for chunk in response.chunks()] == [b"done"]
    assert app.asked == [Incoming("POST", "/a", "x=1", {"x-asked": "Yes"}, b"body", User("ann"))]


async def test_a_stream_is_read_chunk_by_chunk_and_closed_at_its_end() -> None:
    stream = Stream()
    stream.put(b"one", b"two", None)

    assert await read(InProcess(Script(w=lambda: Answer(200, (), stream))), "/w") == (200, [b"one", b"two"])
    assert stream.closed.is_set()


async def test_closing_a_response_closes_its_stream_even_unread() -> None:
    stream = Stream()
    response = await InProcess(Script(w=lambda: Answer(200, (), stream))).send(Request("GET", "/w"))

    await response.aclose()
    await response.aclose()

    assert stream.closed.is_set()


async def test_closing_the_transport_closes_everything() -> None:
    stream = Stream()
    transport = InProcess(Script(w=lambda: Answer(200, (), stream)))
    await transport.send(Request("GET", "/w"))

    await transport.aclose()

    assert stream.closed.is_set()
    with pytest.raises(ConnectError):
        await transport.send(Request("GET", "/w"))


async def test_silence_is_a_read_timeout() -> None:
    stream = Stream()
    stream.put(b"one")
    transport = InProcess(Script(w=lambda: Answer(200, (), stream)))

    with pytest.raises(ReadTimeout):
        await read(transport, "/w", AT_ONCE)
    with pytest.raises(ReadTimeout):
        await read(transport, "/w", Timeouts(idle=None, total=0.001))
    assert stream.closed.is_set()


async def test_an_application_that_does_not_answer_is_a_read_timeout() -> None:
    async def silent(incoming: Incoming) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(ReadTimeout):
        await read(InProcess(silent), "/a", AT_ONCE)


async def test_a_stream_that_fails_breaks_off() -> None:
    stream = Stream()
    stream.put(b"one", RuntimeError("boom"))

    with pytest.raises(Disconnected):
        await read(InProcess(Script(w=lambda: Answer(200, (), stream))), "/w")
    assert stream.closed.is_set()
