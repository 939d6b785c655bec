"""The API server on a socket."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from kcpctl.apiserver.exchange import Answer, User
from kcpctl.apiserver.http.certs import Certificates, names_for
from kcpctl.apiserver.http.connections import Limits
from kcpctl.apiserver.http.server import PortTaken, serving
from kcpctl.apiserver.http.streams import GZIP_OVER
from kcpctl.apiserver.writing.decoding import LARGEST_BODY
from tests.kcpctl.apiserver.http.applications import Script, Stream

BIG = b"0123456789abcdef" * (GZIP_OVER // 16 + 1)


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(auto_decompress=False, skip_auto_headers=["Accept-Encoding"]) as session:
        yield session


async def test_a_request_arrives_whole_and_its_answer_goes_back(http: aiohttp.ClientSession) -> None:
    app = Script(**{"a%2Fb": lambda: Answer(201, (("X-One", "1"), ("Warning", "w1"), ("Warning", "w2")), b"done")})
    async with serving(app, port=0) as server:
        url = f"{server.address}/a%2Fb?x=1&y=%20"
        async with http.post(URL(url, encoded=True), data=b"body", headers={"X-Asked": "Yes"}) as got:
            assert (got.status, await got.read()) == (201, b"done")
            assert got.headers.getall("Warning") == ["w1", "w2"]
            assert "Date" in got.headers

    (asked,) = app.asked
    assert (asked.method, asked.path, asked.query, asked.body) == ("POST", "/a%2Fb", "x=1&y=%20", b"body")
    assert asked.headers["x-asked"] == "Yes"
    assert asked.peer is None


async def test_connections_are_kept(http: aiohttp.ClientSession) -> None:
    async with serving(Script(a=lambda: Answer(200, (), b"x")), port=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for _ in range(3):
            writer.write(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"Connection: close" not in head
            assert await reader.readexactly(1) == b"x"
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_the_limit_arrives_as_one_that_is_just_too_long(
    http: aiohttp.ClientSession, chunked: bool
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield bytes(LARGEST_BODY // 50)

    app = Script(a=lambda: Answer(413, (), b"no"))
    body = parts() if chunked else BytesIO(bytes(LARGEST_BODY * 2))
    async with serving(app, port=0) as server, http.post(f"{server.address}/a", data=body) as got:
        assert (got.status, await got.read()) == (413, b"no")
        assert got.headers["Connection"] == "close"

    assert LARGEST_BODY < len(app.asked[0].body) < LARGEST_BODY * 1.5


async def test_a_body_of_just_the_limit_is_taken(http: aiohttp.ClientSession) -> None:
    app = Script(a=lambda: Answer(200))
    async with (
        serving(app, port=0) as server,
        http.post(f"{server.address}/a", data=BytesIO(bytes(LARGEST_BODY))) as got,
    ):
        assert got.status == 200

    assert len(app.asked[0].body) == LARGEST_BODY


async def test_a_client_that_waits_for_permission_to_send_gets_it() -> None:
    app = Script(a=lambda: Answer(200, (), b"ok"))
    async with serving(app, port=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"body")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK\r\n")
        writer.close()
        await writer.wait_closed()

    assert app.asked[0].body == b"body"


async def test_a_body_that_does_not_come_is_not_waited_for_without_end() -> None:
    app = Script(a=lambda: Answer(200))
    async with serving(app, port=0, limits=Limits(body=0.005)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo")
        answer = await reader.read()  # to the end: the connection is closed
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"kind":"Status"' in answer
        writer.close()
        await writer.wait_closed()

    assert not app.asked


async def test_a_compressed_body_arrives_as_it_is(http: aiohttp.ClientSession) -> None:
    app = Script(a=lambda: Answer(200))
    packed = gzip.compress(bytes(100 * LARGEST_BODY))
    headers = {"Content-Encoding": "gzip"}
    async with (
        serving(app, port=0) as server,
        http.post(f"{server.address}/a", data=packed, headers=headers, compress=False) as got,
    ):
        assert got.status == 200

    assert app.asked[0].body == packed


async def test_of_a_repeated_header_the_first_counts() -> None:
    app = Script(a=lambda: Answer(200))
    async with serving(app, port=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: one\r\nAuthorization: two\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    assert app.asked[0].headers["authorization"] == "one"


async def test_clients_that_go_away_are_nobodys_error(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(Script(a=lambda: Answer(200, (), Stream(), live=True)), port=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        writer.write_eof()  # gone before the answer begins, or just as it does
        await reader.read()
        writer.close()
        await writer.wait_closed()

    assert not caplog.records


async def test_each_chunk_of_a_stream_is_sent_at_once(http: aiohttp.ClientSession) -> None:
    stream = Stream()
    async with (
        serving(Script(w=lambda: Answer(200, (), stream, live=True)), port=0) as server,
        http.get(f"{server.address}/w") as got,
    ):  # the headers are there before any chunk
        stream.put(b"one\n")
        assert await got.content.readline() == b"one\n"
        stream.put(b"two\n", None)
        assert await got.content.readline() == b"two\n"
        assert await got.content.read() == b""

    assert stream.closed.is_set()


async def test_a_client_that_goes_away_closes_its_stream(http: aiohttp.ClientSession) -> None:
    stream = Stream()
    async with serving(Script(w=lambda: Answer(200, (), stream, live=True)), port=0) as server:
        got = await http.get(f"{server.address}/w")

        got.close()

        await stream.closed.wait()


async def test_a_stream_that_fails_breaks_the_connection(
    http: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    stream = Stream()
    async with (
        serving(Script(w=lambda: Answer(200, (), stream, live=True)), port=0) as server,
        http.get(f"{server.address}/w") as got,
    ):
        stream.put(b"one\n", RuntimeError("boom"))
        assert await got.content.readline() == b"one\n"
        with pytest.raises(aiohttp.ClientPayloadError):
            await got.content.read()

    assert stream.closed.is_set()
    assert "boom" in caplog.text


async def test_stopping_ends_watches_cleanly_and_lets_requests_finish(http: aiohttp.ClientSession) -> None:
    watch, slow = Stream(), Stream()
    app = Script(w=lambda: Answer(200, (), watch, live=True), slow=lambda: Answer(200, (), slow))
    async with asyncio.TaskGroup() as tasks, serving(app, port=0) as server:
        watching = await http.get(f"{server.address}/w")
        asking = tasks.create_task(http.get(f"{server.address}/slow"))
        while len(app.asked) < 2:
            await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(slow.put, b"finished", None)

    assert await watching.content.read() == b""
    assert await (await asking).read() == b"finished"
    assert watch.closed.is_set()
    with pytest.raises(aiohttp.ClientConnectorError):
        await http.get(f"{server.address}/w")


async def test_what_does_not_finish_in_time_is_given_up(http: aiohttp.ClientSession) -> None:
    endless = Stream()
    app = Script(a=lambda: Answer(200, (), endless))
    async with asyncio.TaskGroup() as tasks, serving(app, port=0, grace=0) as server:
        asking = tasks.create_task(_outcome(http, f"{server.address}/a"))
        await endless.read.wait()

    assert await asking == "disconnected"
    assert endless.closed.is_set()


async def _outcome(http: aiohttp.ClientSession, url: str) -> str:
    try:
        async with http.get(url) as got:
            await got.read()
    except aiohttp.ClientError:
        return "disconnected"
    return "answered"


async def test_a_taken_port_is_an_error_of_its_own() -> None:
    async with serving(Script(), port=0) as server:
        with pytest.raises(PortTaken) as caught:
            async with serving(Script(), port=server.port):
                pass

    assert caught.value.port == server.port
    assert str(server.port) in str(caught.value)


@pytest.mark.parametrize(
    ("body", "streamed", "accepts", "compressed"),
    [
        (BIG, True, "gzip", True),
        (BIG, True, "identity", False),
        (BIG, False, "gzip", True),
        (BIG, False, "identity", False),
        (BIG[:-16], False, "gzip", False),
    ],
)
async def test_only_large_answers_are_compressed_and_only_where_that_is_accepted(
    body: bytes, streamed: bool, accepts: str, compressed: bool
) -> None:
    def answer() -> Answer:
        if not streamed:
            return Answer(200, (), body)
        stream = Stream()
        stream.put(body[:100], body[100:], None)
        return Answer(200, (), stream)

    async with (
        serving(Script(a=answer), port=0) as server,
        aiohttp.ClientSession() as http,
        http.get(f"{server.address}/a", headers={"Accept-Encoding": accepts}) as got,
    ):
        assert await got.read() == body
        assert (got.headers.get("Content-Encoding") == "gzip") is compressed


async def test_watches_are_never_compressed(http: aiohttp.ClientSession) -> None:
    stream = Stream()
    stream.put(BIG, BIG, None)
    async with (
        serving(Script(w=lambda: Answer(200, (), stream, live=True)), port=0) as server,
        http.get(f"{server.address}/w", headers={"Accept-Encoding": "gzip"}) as got,
    ):
        assert await got.read() == BIG + BIG


async def test_a_head_request_is_answered_without_a_body(http: aiohttp.ClientSession) -> None:
    async with (
        serving(Script(a=lambda: Answer(405, (), b"no")), port=0) as server,
        http.head(f"{server.address}/a") as got,
    ):
        assert (got.status, await got.read()) == (405, b"")


async def test_what_is_not_http_is_refused_without_a_word_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(Script(), port=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"\x16\x03\x01 what?\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.0 400")
        writer.close()
        await writer.wait_closed()

    assert not caplog.records


async def test_a_client_certificate_says_who_asks(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path, now=lambda: datetime.now(UTC))
    certificates.client("ann", User("ann", groups=("dev", "ops")))
    trusting = ssl.create_default_context(cadata=certificates.authority.decode())
    known = ssl.create_default_context(cadata=certificates.authority.decode())
    known.load_cert_chain(tmp_path / "ann.crt", tmp_path / "ann.key")
    app = Script(a=lambda: Answer(200))
    tls = certificates.server_context(names_for("127.0.0.1"))

    async with serving(app, port=0, tls=tls) as server, aiohttp.ClientSession() as http:
        assert server.address.startswith("https://127.0.0.1:")
        for context in (known, trusting):
            async with http.get(f"{server.address}/a", ssl=context):
                pass

    assert [asked.peer for asked in app.asked] == [User("ann", groups=("dev", "ops")), None]


async def test_a_request_in_absolute_form_is_read_by_its_path() -> None:
    app = Script(a=lambda: Answer(200))
    async with serving(app, port=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET http://elsewhere:1/a?x=1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        await reader.read()
        writer.close()
        await writer.wait_closed()

    assert [(asked.path, asked.query) for asked in app.asked] == [("/a", "x=1")]
