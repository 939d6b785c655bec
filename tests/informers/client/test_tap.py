"""Chunked bodies, which are read past aiohttp: what the pool, the deadlines and slow readers must not notice."""

import asyncio

import pytest
import uvloop

from informers.api.errors import DecodeError, Disconnected, ReadTimeout
from informers.client.credentials import Anonymous
from informers.client.http import HttpTransport
from informers.client.tls import Pem, TlsContexts, Trust
from informers.client.transport import Request, Timeouts
from tests.informers.client.certificates import Authority
from tests.informers.client.servers import LAST_CHUNK, answer, chunk, opening, serving

PATIENT = Request("GET", "/", timeouts=Timeouts(idle=60.0, total=None))
BODY = b"".join(b"line %d\n" % n for n in range(2000))


async def body_of(transport, request=Request("GET", "/")):  # noqa: B008
    response = await transport.send(request)
    try:
        return b"".join([piece async for piece in response.chunks()])
    finally:
        await response.aclose()


@pytest.fixture
async def transport_to():
    """Make transports that are closed when the test ends."""
    made = []

    def make(address):
        made.append(HttpTransport(address, credentials=Anonymous()))
        return made[-1]

    yield make
    for transport in made:
        await transport.aclose()


class Hasty(asyncio.SelectorEventLoop):
    """A loop whose time can be moved on."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead

    async def pass_by(self, seconds: float) -> None:
        """Let the time pass, and the loop notice."""
        self.ahead += seconds
        for _ in range(5):
            await asyncio.sleep(0)


async def still(count) -> None:
    """Wait until a server that counts what it sends cannot go on."""
    before = -1
    while before != count():
        before = count()
        await asyncio.sleep(0.005)


def framed(size: int) -> bytes:
    """Return the body in chunks of that size."""
    return b"".join(chunk(BODY[at : at + size]) for at in range(0, len(BODY), size)) + LAST_CHUNK


async def test_a_connection_serves_the_next_request_after_a_chunked_body(transport_to):
    """Pages of a list would otherwise each make a TLS connection of their own."""
    turns = iter([opening() + framed(700), answer(b"plain"), opening() + framed(64), opening() + LAST_CHUNK])

    async def handler(asked, writer):
        writer.write(next(turns))

    async with serving(handler) as server:
        transport = transport_to(server.address)
        assert [await body_of(transport) for _ in range(4)] == [BODY, b"plain", BODY, b""]
        assert server.connections == 1


@pytest.mark.parametrize(
    "interim", [b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"]
)
async def test_a_head_in_single_bytes_is_a_head(transport_to, interim):
    async def handler(asked, writer):
        for byte in interim + opening(X_Note="one") + chunk(b"body"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(LAST_CHUNK)

    async with serving(handler) as server:
        transport = transport_to(server.address)
        response = await transport.send(Request("GET", "/"))
        assert response.headers["x-note"] == "one"
        assert b"".join([piece async for piece in response.chunks()]) == b"body"
        await response.aclose()


async def test_a_reader_that_does_not_read_stops_the_server_and_then_gets_everything(transport_to):
    """Nobody holds a whole list in memory because its reader is slow."""
    sent = 0
    blocked = asyncio.Event()

    async def handler(asked, writer):
        nonlocal sent
        writer.write(opening())
        for _ in range(400):
            writer.write(chunk(b"x" * 100_000))
            try:
                async with asyncio.timeout(0.2):
                    await writer.drain()
            except TimeoutError:
                blocked.set()
                await writer.drain()
            sent += 1
        writer.write(LAST_CHUNK)

    async with serving(handler) as server:
        transport = transport_to(server.address)
        response = await transport.send(Request("GET", "/"))
        await blocked.wait()
        assert sent < 300
        assert sum([len(piece) async for piece in response.chunks()]) == 40_000_000
        await response.aclose()


async def test_broken_framing_breaks_the_answer_after_what_was_whole(transport_to):
    async def handler(asked, writer):
        writer.write(opening() + chunk(b"good") + b"nonsense\r\n")

    async with serving(handler) as server:
        response = await transport_to(server.address).send(Request("GET", "/"))
        chunks = response.chunks()
        assert await anext(chunks) == b"good"
        with pytest.raises(Disconnected, match="expected the size of a chunk, found b'nonsense'"):
            await anext(chunks)
        await response.aclose()


def test_time_that_a_slow_reader_takes_is_no_silence_of_the_server():
    async def main():
        sent = 0

        async def handler(asked, writer):
            nonlocal sent
            writer.write(opening())
            for _ in range(200):
                writer.write(chunk(b"x" * 100_000))
                await writer.drain()
                sent += 1
            writer.write(LAST_CHUNK)

        async with serving(handler) as server:
            transport = HttpTransport(server.address, credentials=Anonymous())
            response = await transport.send(PATIENT)
            await still(lambda: sent)
            await loop.pass_by(1000)
            assert sum([len(piece) async for piece in response.chunks()]) == 20_000_000
            await response.aclose()
            await transport.aclose()

    with asyncio.Runner(loop_factory=Hasty) as runner:
        loop = runner.get_loop()
        runner.run(main())


async def test_what_is_no_answer_is_refused_as_soon_as_it_comes(transport_to):
    """And not when it would be too long for a head."""

    async def handler(asked, writer):
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")

    async with serving(handler) as server:
        with pytest.raises(DecodeError, match="expected HTTP"):
            await transport_to(server.address).send(Request("GET", "/", timeouts=Timeouts(idle=5.0)))


def test_silence_after_a_keep_alive_body_is_counted_anew():
    """Time between two answers of one connection is nobody's silence, and each piece of a body begins it again."""
    turns = iter([opening() + framed(900), opening() + chunk(b"slow")])

    async def main():
        async def handler(asked, writer):
            writer.write(next(turns))

        async with serving(handler) as server:
            transport = HttpTransport(server.address, credentials=Anonymous())
            assert await body_of(transport, PATIENT) == BODY
            await loop.pass_by(59)
            response = await transport.send(PATIENT)
            chunks = response.chunks()
            assert await anext(chunks) == b"slow"
            waiting = asyncio.ensure_future(anext(chunks))
            await loop.pass_by(59)
            assert not waiting.done()
            await loop.pass_by(2)
            with pytest.raises(ReadTimeout, match="found silence"):
                await waiting
            await response.aclose()
            await transport.aclose()

    with asyncio.Runner(loop_factory=Hasty) as runner:
        loop = runner.get_loop()
        runner.run(main())


LOOPS = pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])


@LOOPS
@pytest.mark.parametrize("by_server", [False, True], ids=["here", "there"])
@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "tls"])
def test_a_connection_that_waits_for_its_reader_is_closed_without_a_complaint_of_the_loop(loop, by_server, encrypted):
    """A list is given up halfway, say; asyncio's closed TLS connections cannot be told to go on."""
    authority = Authority()
    shown = authority.server_context(authority.issue("server", hosts=["127.0.0.1"])) if encrypted else None
    complaints = []

    async def main():
        sent = 0
        asyncio.get_running_loop().set_exception_handler(lambda _, complaint: complaints.append(complaint))

        async def handler(asked, writer):
            nonlocal sent
            writer.write(opening())
            while not writer.is_closing():
                writer.write(chunk(b"x" * 100_000))
                await writer.drain()
                await asyncio.sleep(0)  # uvloop takes what is written to a connection that is lost, without a pause
                sent += 1

        async def short(asked, writer):
            writer.write(opening() + chunk(b"x" * 1_000_000))
            await writer.drain()
            writer.transport.abort()

        async with serving(short if by_server else handler, tls=shown) as server:
            nobody = Anonymous(TlsContexts(Trust(Pem(authority.pem))))
            transport = HttpTransport(server.address, credentials=nobody)
            response = await transport.send(Request("GET", "/"))
            if by_server:
                await server.disconnected.wait()
                with pytest.raises(Disconnected):
                    _ = [piece async for piece in response.chunks()]
            else:
                await still(lambda: sent)
            await response.aclose()
            await transport.aclose()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(main())
    assert not complaints


@LOOPS
def test_tls_records_that_come_together_are_read_one_after_the_other(loop):
    """Go writes each chunk as a record of its own: what is read of one must not be taken for the other."""
    authority = Authority()
    shown = authority.server_context(authority.issue("server", hosts=["127.0.0.1"]))

    async def main():
        async def handler(asked, writer):
            writer.write(opening())
            for at in range(0, len(BODY), 700):
                writer.write(chunk(BODY[at : at + 700]))  # nothing lets the loop send in between
            writer.write(LAST_CHUNK)

        async with serving(handler, tls=shown) as server:
            nobody = Anonymous(TlsContexts(Trust(Pem(authority.pem))))
            transport = HttpTransport(server.address, credentials=nobody)
            assert [await body_of(transport) for _ in range(3)] == [BODY] * 3
            await transport.aclose()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(main())


def test_it_works_on_uvloop_over_plain_sockets():
    async def main():
        async def handler(asked, writer):
            writer.write(opening() + framed(333))

        async with serving(handler) as server:
            transport = HttpTransport(server.address, credentials=Anonymous())
            assert [await body_of(transport) for _ in range(3)] == [BODY] * 3
            assert server.connections == 1
            await transport.aclose()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
