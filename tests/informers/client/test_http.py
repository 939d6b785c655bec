import asyncio
import gzip
import socket

import pytest

from informers.api.errors import (
    ConfigurationError,
    ConnectError,
    ConnectionRefused,
    DecodeError,
    Disconnected,
    ReadTimeout,
)
from informers.client.credentials import Anonymous, BearerToken
from informers.client.http import CALLS_AT_ONCE, HttpTransport
from informers.client.transport import Request, Timeouts
from informers.tasks import together
from tests.informers.client.servers import LAST_CHUNK, always, answer, chunk, opening, serving

ANYONE = Anonymous()


@pytest.fixture
async def transport_to():
    """Make transports that are closed when the test ends."""
    made = []

    def make(address, **options):
        made.append(HttpTransport(address, **{"credentials": ANYONE, **options}))
        return made[-1]

    yield make
    for transport in made:
        await transport.aclose()


async def read(transport, request=Request("GET", "/")):  # noqa: B008
    response = await transport.send(request)
    try:
        return response.status, b"".join([piece async for piece in response.chunks()])
    finally:
        await response.aclose()


async def test_a_request_arrives_as_it_was_made(transport_to):
    async with serving(always(answer(b'{"a":1}', status=201))) as server:
        transport = transport_to(server.address + "/prefix/", credentials=BearerToken("secret\n"))
        request = Request("PATCH", "/x/a%2Fb:c?q=%2C*", {"Content-Type": "application/merge-patch+json"}, b'{"b":2}')

        assert await read(transport, request) == (201, b'{"a":1}')

    [asked] = server.asked
    assert (asked.method, asked.target, asked.body) == ("PATCH", "/prefix/x/a%2Fb:c?q=%2C*", b'{"b":2}')
    assert asked.headers.pop("host") in server.address
    assert asked.headers == {
        "accept-encoding": "identity",
        "authorization": "Bearer secret",
        "content-length": "7",
        "content-type": "application/merge-patch+json",
    }


@pytest.mark.parametrize("status", [204, 404, 500])
async def test_any_status_is_an_answer(transport_to, status):
    async with serving(always(answer(b"", status=status))) as server:
        assert await read(transport_to(server.address)) == (status, b"")


async def test_calls_share_a_connection_one_after_the_other(transport_to):
    async with serving(always(answer())) as server:
        transport = transport_to(server.address)
        for _ in range(3):
            await read(transport)

        assert server.connections == 1


async def test_redirects_are_not_followed(transport_to):
    """Following one would hand our credentials to whatever host it names."""
    async with (
        serving(always(answer())) as elsewhere,
        serving(always(answer(status=302, Location=elsewhere.address))) as server,
    ):
        status, _ = await read(transport_to(server.address, credentials=BearerToken("secret")))

        assert status == 302
        assert elsewhere.asked == []


async def test_chunks_come_as_the_socket_gives_them(transport_to):
    """The second event of a watch may be minutes away; the first must not wait for it."""
    second = asyncio.Event()

    async def handler(asked, writer):
        writer.write(opening() + chunk(b"first\n"))
        await writer.drain()
        await second.wait()
        writer.write(chunk(b"second\n") + LAST_CHUNK)

    async with serving(handler) as server:
        response = await transport_to(server.address).send(Request("GET", "/", watch=True))
        chunks = response.chunks()

        assert await anext(chunks) == b"first\n"
        second.set()
        assert [piece async for piece in chunks] == [b"second\n"]
        await response.aclose()


async def test_watches_do_not_take_the_places_of_calls(transport_to):
    async def handler(asked, writer):
        writer.write(opening() + chunk(b"x") if asked.target == "/watch" else answer())

    async with serving(handler) as server:
        transport = transport_to(server.address)
        watches = [
            await transport.send(Request("GET", "/watch", timeouts=Timeouts(connect=5), watch=True))
            for _ in range(CALLS_AT_ONCE + 8)
        ]

        assert await read(transport) == (200, b"{}")
        assert server.connections == CALLS_AT_ONCE + 9
        for watch in watches:
            await watch.aclose()


async def test_many_gzip_members_are_undone_whole(transport_to):
    """One member for each flush is how servers from 1.37 on send a streamed list."""
    members = [gzip.compress(b'{"n":%d}\n' % n) for n in range(200)]

    async def handler(asked, writer):
        writer.write(opening(Content_Encoding="gzip"))
        for member in members:
            writer.write(chunk(member[:9]) + chunk(member[9:]))
            await writer.drain()
        writer.write(LAST_CHUNK)

    async with serving(handler) as server:
        status, body = await read(transport_to(server.address, compress=True))

        assert (status, body) == (200, b"".join(b'{"n":%d}\n' % n for n in range(200)))
        assert server.asked[0].headers["accept-encoding"] == "gzip"


async def test_a_gzip_member_without_an_end_is_a_broken_answer(transport_to):
    """The HTTP message is whole; only the gzip stream tells that something is missing."""
    member = gzip.compress(b"x" * 1000)
    async with serving(always(answer(gzip.compress(b"good") + member[:-5], Content_Encoding="gzip"))) as server:
        with pytest.raises(Disconnected, match="gzip member"):
            await read(transport_to(server.address))


async def test_an_encoding_that_nobody_asked_for_is_named(transport_to):
    async with serving(always(answer(b"...", Content_Encoding="br"))) as server:
        with pytest.raises(DecodeError, match="Content-Encoding 'br'"):
            await read(transport_to(server.address))


async def test_nobody_listening_is_connection_refused(transport_to):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"

        with pytest.raises(ConnectionRefused, match=f"server at {address}, found that nobody listens"):
            await read(transport_to(address))


async def test_a_name_that_does_not_resolve_is_a_connect_error(transport_to):
    with pytest.raises(ConnectError, match=r"connection to http://nowhere\.invalid"):
        await read(transport_to("http://nowhere.invalid"))


async def test_a_server_that_accepts_and_says_nothing_runs_into_the_idle_deadline(transport_to):
    async def handler(asked, writer):
        await asyncio.Event().wait()

    async with serving(handler) as server:
        with pytest.raises(ReadTimeout, match=r"every 0\.02 s, found silence"):
            await read(transport_to(server.address), Request("GET", "/", timeouts=Timeouts(idle=0.02)))


async def test_silence_in_the_middle_of_a_watch_runs_into_the_idle_deadline(transport_to):
    async def handler(asked, writer):
        writer.write(opening() + chunk(b"an event\n"))
        await writer.drain()
        await asyncio.Event().wait()

    async with serving(handler) as server:
        request = Request("GET", "/", timeouts=Timeouts(idle=0.02, total=None), watch=True)
        response = await transport_to(server.address).send(request)
        chunks = response.chunks()
        assert await anext(chunks) == b"an event\n"

        with pytest.raises(ReadTimeout, match="found silence"):
            await anext(chunks)
        await response.aclose()


async def test_an_answer_that_trickles_for_ever_runs_into_the_total_deadline(transport_to):
    async def handler(asked, writer):
        writer.write(opening())
        while True:
            writer.write(chunk(b"."))
            await writer.drain()
            await asyncio.sleep(0.001)

    async with serving(handler) as server:
        with pytest.raises(ReadTimeout, match=r"within 0\.05 s"):
            await read(transport_to(server.address), Request("GET", "/", timeouts=Timeouts(total=0.05)))


async def test_a_full_pool_runs_into_the_connect_deadline_and_says_that_it_was_full(transport_to):
    async def handler(asked, writer):
        writer.write(opening())
        await writer.drain()
        await asyncio.Event().wait()

    async with serving(handler) as server:
        transport = transport_to(server.address)
        held = [await transport.send(Request("GET", "/")) for _ in range(CALLS_AT_ONCE)]

        with pytest.raises(ConnectError, match=rf"within 0\.02 s, found all {CALLS_AT_ONCE} busy"):
            await read(transport, Request("GET", "/", timeouts=Timeouts(connect=0.02)))
        for response in held:
            await response.aclose()


async def test_who_waits_for_a_full_pool_is_told_so_although_others_have_given_up_waiting(transport_to):
    async def handler(asked, writer):
        writer.write(opening())
        await writer.drain()
        await asyncio.Event().wait()

    async def wait(seconds):
        with pytest.raises(ConnectError) as error:
            await transport.send(Request("GET", "/", timeouts=Timeouts(connect=seconds)))
        said.append(str(error.value))

    async with serving(handler) as server:
        transport = transport_to(server.address)
        held = [await transport.send(Request("GET", "/")) for _ in range(CALLS_AT_ONCE)]

        said = list[str]()
        await together(wait(0.04), wait(0.02), wait(0.02))
        for response in held:
            await response.aclose()

    assert ["busy with other calls" in one for one in said] == [True] * 3


async def test_a_server_that_lets_nobody_in_runs_into_the_connect_deadline(transport_to):
    """Its backlog is full: the handshake of TCP itself stays unanswered."""
    with socket.socket() as full, socket.socket() as first:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        first.connect(full.getsockname())
        address = f"http://127.0.0.1:{full.getsockname()[1]}"

        with pytest.raises(ConnectError, match=r"within 0\.02 s, found none"):
            await read(transport_to(address), Request("GET", "/", timeouts=Timeouts(connect=0.02)))


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
async def test_a_connection_that_breaks_before_the_answer_is_disconnected_and_sent_once(transport_to, method):
    async def handler(asked, writer):
        writer.close()

    async with serving(handler) as server:
        with pytest.raises(Disconnected, match="connection broken"):
            await read(transport_to(server.address), Request(method, "/"))

        assert len(server.asked) == 1


async def test_a_connection_that_was_kept_and_then_broke_is_not_asked_twice_either(transport_to):
    async def handler(asked, writer):
        if asked.target == "/good":
            writer.write(answer())
        else:
            writer.close()

    async with serving(handler) as server:
        transport = transport_to(server.address)
        await read(transport, Request("GET", "/good"))

        with pytest.raises(Disconnected):
            await read(transport, Request("GET", "/bad"))
        assert [asked.target for asked in server.asked] == ["/good", "/bad"]


@pytest.mark.parametrize("half", [opening() + chunk(b"an event\n"), answer(b"x" * 1000)[:-10], opening() + b"ff\r\nx"])
async def test_an_answer_that_breaks_off_is_disconnected(transport_to, half):
    async def handler(asked, writer):
        writer.write(half)
        writer.close()

    async with serving(handler) as server:
        with pytest.raises(Disconnected, match="connection broken"):
            await read(transport_to(server.address))


async def test_an_answer_that_is_not_http_is_told_apart(transport_to):
    async with serving(always(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")) as server:
        with pytest.raises(DecodeError, match="expected HTTP from http://127"):
            await read(transport_to(server.address))


async def test_a_closed_transport_says_so(transport_to):
    transport = transport_to("http://127.0.0.1:1")
    await transport.aclose()

    with pytest.raises(ConnectError, match="found it closed"):
        await read(transport)


@pytest.mark.parametrize("address", ["localhost:6443", "ftp://host", "https://", "", "https://host:port"])
def test_an_address_of_no_use_is_a_configuration_error(address):
    with pytest.raises(ConfigurationError, match="expected a server address like https://host:6443, found"):
        HttpTransport(address, credentials=ANYONE)
