"""Every engine behaves like the simplest model, whatever is done to it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis.stateful import rule

from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.storage.sqlite import SqliteStorage
from tests.kcpctl.apiserver.storage.machine import WINDOW, EngineAgainstModel


class MemoryMachine(EngineAgainstModel):
    async def open(self) -> MemoryStorage:
        return MemoryStorage(revision=100, window=WINDOW)


class SqliteMachine(EngineAgainstModel):
    """Restarts at any time; state, revisions and history go on as if nothing had been."""

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        super().__init__()

    async def open(self) -> SqliteStorage:
        return await SqliteStorage.open(Path(self.folder.name, "store.db"), window=WINDOW)

    @rule()
    def restart(self) -> None:
        identity, oldest = self.store.identity, self.store.oldest
        self.run(self.store.aclose())
        self.watched.clear()
        self.store = self.run(self.open())
        assert self.store.identity == identity
        assert self.store.oldest <= oldest

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestMemory = MemoryMachine.TestCase
TestMemory.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestSqlite = SqliteMachine.TestCase
TestSqlite.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)
