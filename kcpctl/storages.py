"""Where embedded servers keep their state: one SQLite file each in the data directory, or memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from informers.api.errors import ConfigurationError
from kcpctl.apiserver.storage.base import Storage
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.storage.sqlite import SqliteStorage
from kcpctl.apiserver.storage.sqlite_opening import CannotOpen


@dataclass(frozen=True)
class Opened:
    """A store that is open."""

    storage: Storage
    is_new: bool
    """Whether it holds nothing: no earlier process has written to it."""


@asynccontextmanager
async def opened(folder: Path, name: str, *, in_memory: bool) -> AsyncIterator[Opened]:
    """Keep the store of that name open for the block. Raises `ConfigurationError` for a file that cannot be used."""
    try:
        storage: Storage = MemoryStorage() if in_memory else await SqliteStorage.open(folder / f"{name}.sqlite")
    except CannotOpen as error:
        raise ConfigurationError(str(error)) from error
    try:
        first = await storage.range("", limit=1)
        yield Opened(storage, is_new=not first.records)
    finally:
        await storage.aclose()
