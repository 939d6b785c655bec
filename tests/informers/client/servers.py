"""Servers that do exactly what a test says, byte by byte, on a real socket."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from informers.client.server import Server


@dataclass(frozen=True)
class Asked:
    """One request as the server read it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]
"""Answers one request; the connection is kept unless the handler closes the writer."""


@dataclass
class Serving:
    """A running server: where it is, and what it was asked."""

    address: str
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a client has closed a connection."""


@asynccontextmanager
async def serving(handler: Handler, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Serving]:
    """Run the handler behind a socket of its own for the block."""
    writers: set[asyncio.StreamWriter] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        served.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                asked = await _read(reader)
                served.asked.append(asked)
                await handler(asked, writer)
                await writer.drain()
        served.disconnected.set()
        await _close(writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    served = Serving(f"{'https' if tls else 'http'}://127.0.0.1:{port}")
    try:
        yield served
    finally:
        server.close()
        for writer in writers:
            await _close(writer)
        await server.wait_closed()


@asynccontextmanager
async def connected(handler: Handler, path: str = "") -> AsyncIterator[tuple[Serving, Server]]:
    """Run the handler, and a Server that talks to it, for the block; `path` ends the Server's address."""
    async with serving(handler) as served, Server.from_address(served.address + path) as server:
        yield served, server


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, target, headers, body)


def answer(body: bytes = b"{}", *, status: int = 200, kind: str = "application/json", **headers: str) -> bytes:
    """Return a whole HTTP answer; header names are given with `_` for `-`."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} Whatever\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def opening(*, kind: str = "application/json", **headers: str) -> bytes:
    """Return the head of a chunked answer."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n{more}\r\n".encode()


def chunk(data: bytes) -> bytes:
    """Return one chunk of a chunked answer."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"


def always(response: bytes) -> Handler:
    """Return a handler that answers every request alike."""

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(response)

    return handler
