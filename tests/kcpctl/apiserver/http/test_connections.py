"""Connections: what clients hear that talk nonsense, and how long those are waited for that say nothing."""

import asyncio
import json

import pytest

from kcpctl.apiserver.exchange import Answer
from kcpctl.apiserver.http.connections import Limits
from kcpctl.apiserver.http.server import serving
from tests.kcpctl.apiserver.http.applications import Script

SHORT = 0.02
LONG = 60.0
PATIENT = Limits(head=LONG, idle=LONG)
REQUEST = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"G", b"GET /a HTTP/1.1\r\n", REQUEST[:-2]])
async def test_a_connection_whose_first_request_does_not_come_is_closed_without_a_word(sent: bytes) -> None:
    assert await heard(sent, limits=Limits(head=SHORT, idle=LONG)) == b""


async def test_a_connection_that_is_not_used_any_more_is_closed() -> None:
    assert (await heard(REQUEST, limits=Limits(head=LONG, idle=SHORT))).endswith(b"\r\n\r\nx")


async def test_a_later_request_that_begins_and_does_not_go_on_closes_the_connection() -> None:
    limits = Limits(head=SHORT, idle=LONG)

    assert (await heard(REQUEST, REQUEST[:20], limits=limits)).count(b"HTTP/1.1 200 OK") == 1


async def test_heads_that_come_in_pieces_are_waited_for() -> None:
    last = b"GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    pieces = [REQUEST[:9], REQUEST[9:], last[:1], last[1:]]

    assert (await heard(*pieces)).count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("GET /\u00fc HTTP/1.1\r\nHost: h\r\n\r\n".encode(), b"400 Bad Request"),
        (b"nonsense\r\n\r\n", b"400 Bad Request"),
        (b"GET /a HTTP/1.1\r\nno colon\r\n\r\n", b"400 Bad Request"),
        (b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n", b"431 Request Header Fields Too Large"),
        (b"GET /a HTTP/1.1\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\n", b"431 Request Header Fields Too Large"),
    ],
)
async def test_what_is_no_http_is_answered_in_one_line_as_go_does(sent: bytes, expected: bytes) -> None:
    head, _, body = (await heard(sent)).partition(b"\r\n\r\n")

    first, *headers = head.split(b"\r\n")
    assert first.partition(b" ")[2] == expected
    assert b"Content-Type: text/plain; charset=utf-8" in headers
    assert b"Server: kcpctl" in headers
    assert body == expected


async def test_a_body_that_is_not_what_its_headers_say_is_answered_with_a_status() -> None:
    announced = b"POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

    head, _, body = (await heard(announced, b"not a length\r\n")).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert json.loads(body)["kind"] == "Status"


async def heard(*sent: bytes, limits: Limits = PATIENT) -> bytes:
    """Return everything that a client hears until its connection is closed."""
    async with serving(Script(a=lambda: Answer(200, (), b"x")), port=0, limits=limits) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for piece in sent:
            writer.write(piece)
            await asyncio.sleep(0.001)
        try:
            return await reader.read()
        finally:
            writer.close()
