"""A network cable with faults: a TCP proxy that cuts, delays, goes silent and truncates."""

import asyncio
import struct
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from enum import Enum
from socket import SO_LINGER, SOL_SOCKET

from informers.tasks import background

_CHUNK = 65536


class Mode(Enum):
    """What happens to bytes."""

    OPEN = "they are carried"
    CUT = "connections break, and new ones are refused"
    HALF_OPEN = "connections are accepted and stay, and nothing comes through"
    DELAY = "they are carried late"


class Cable:
    """Carries connections to one address; every fault ends with `heal`.

    Invariant: a connection that swallowed bytes never carries any again; it is reset when the cable heals, as a real
    one is once the other side hears of it again.
    """

    def __init__(self) -> None:
        self.mode = Mode.OPEN
        self.port = 0
        self._target = 0
        self._delay = 0.0
        self._truncated = 0
        self._server: asyncio.Server | None = None
        self._carried: set[StreamWriter] = set()
        self._swallowing: set[StreamWriter] = set()

    async def open(self) -> None:
        """Take a port; where to is said by `lead_to`, before or later."""
        await self._listen()

    async def aclose(self) -> None:
        """Break all connections, and stop."""
        await self._deafen()
        self._break()

    def lead_to(self, port: int) -> None:
        """Carry new connections to that port of this machine."""
        self._target = port

    async def cut(self) -> None:
        """Break all connections, refuse new ones."""
        self.mode = Mode.CUT
        await self._deafen()
        self._break()

    def half_open(self) -> None:
        """Swallow everything from now on."""
        self.mode = Mode.HALF_OPEN

    def delay(self, seconds: float) -> None:
        """Carry every chunk that much later, in either direction."""
        self.mode = Mode.DELAY
        self._delay = seconds

    def truncate(self, count: int = 1) -> None:
        """Let half of the next chunk arrive of the next answers, and break their connections there."""
        self._truncated = count

    async def heal(self) -> None:
        """Carry everything again; connections that swallowed bytes break."""
        self.mode = Mode.OPEN
        self._truncated = 0
        for writer in list(self._swallowing):
            _reset(writer)
        await self._listen()

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _deafen(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _break(self) -> None:
        for writer in list(self._carried):
            _reset(writer)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._carried.add(writer)
        try:
            if self.mode is Mode.HALF_OPEN:
                self._swallowing.add(writer)
                while await reader.read(_CHUNK):
                    pass
                return
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            self._carried.add(back)
            try:
                async with background(self._carry(reader, back, writer, is_answer=False)):
                    await self._carry(there, writer, back, is_answer=True)
            finally:
                self._drop(back)
        except OSError:
            return  # one of the two ends has gone, and so does the other
        finally:
            self._drop(writer)

    def _drop(self, writer: StreamWriter) -> None:
        self._carried.discard(writer)
        self._swallowing.discard(writer)
        writer.close()

    async def _carry(self, reader: StreamReader, writer: StreamWriter, other: StreamWriter, *, is_answer: bool) -> None:
        with suppress(OSError):
            while chunk := await reader.read(_CHUNK):
                if self.mode is Mode.HALF_OPEN or writer in self._swallowing:
                    self._swallowing |= {writer, other}
                    continue
                if is_answer and self._truncated > 0:
                    self._truncated -= 1
                    writer.write(chunk[: len(chunk) // 2])
                    await writer.drain()
                    break
                if self.mode is Mode.DELAY:
                    await asyncio.sleep(self._delay)
                writer.write(chunk)
                await writer.drain()
        writer.close()


def _reset(writer: StreamWriter) -> None:
    """End a connection as a broken network does, without a goodbye."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        with suppress(OSError):
            sock.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
