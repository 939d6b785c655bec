"""Small applications that answer as a test tells them to."""

import asyncio
from collections.abc import AsyncIterator, Callable

from kcpctl.apiserver.exchange import Answer, Incoming


class Script:
    """Answers each path as it was told, and remembers what it was asked."""

    def __init__(self, **answers: Callable[[], Answer]) -> None:
        self.answers = answers
        self.asked: list[Incoming] = []

    async def __call__(self, incoming: Incoming) -> Answer:
        self.asked.append(incoming)
        return self.answers[incoming.path.strip("/")]()


class Stream:
    """A stream whose chunks come when the test puts them; it knows whether it was read and closed."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.read = asyncio.Event()
        self.closed = asyncio.Event()

    def put(self, *chunks: bytes | Exception | None) -> None:
        """Let these come next: None ends the stream, an exception breaks it."""
        for chunk in chunks:
            self._chunks.put_nowait(chunk)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self.read.set()
        chunk = await self._chunks.get()
        if chunk is None:
            raise StopAsyncIteration
        if isinstance(chunk, Exception):
            raise chunk
        return chunk

    async def aclose(self) -> None:
        self.closed.set()
