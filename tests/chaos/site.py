"""Three shards and a cache server as processes, a cable with faults from each shard to the cache, and the books."""

import asyncio
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from informers.tasks import background
from tests.chaos.api import Api
from tests.chaos.invariants import Tampered
from tests.chaos.plans import CACHE, SHARDS
from tests.chaos.processes import Process
from tests.chaos.proxy import Cable, Mode
from tests.chaos.recorder import Recorder
from tests.chaos.truth import Books, Home, ShardObject, World


class Beginning(NamedTuple):
    """Data directories that plans may begin with, and what is in their stores."""

    folder: Path
    world: World


FLAGS = {"amber": "eu", "green": "us", "violet": ""}
"""The region that each shard's own flag says."""


def url_of(shard: str, move: int = 0) -> str:
    """Return where a shard publishes itself; nobody ever goes there."""
    return f"https://{shard}{f'-{move}' if move else ''}.test:6443"


def flag_labels(shard: str) -> frozenset[tuple[str, str]]:
    """Return the labels that a shard's Shard has from its flags."""
    region = {("region", FLAGS[shard])} if FLAGS[shard] else set()
    return frozenset({("name", shard)} | region)


class Site:
    """The processes, and what is known of them.

    Invariant: `books` say what the stores hold that were written to by the harness; `recorders` what slices published.
    """

    def __init__(self, folder: Path) -> None:
        """Keep everything below that folder."""
        self.folder = folder
        self.cache = Process(CACHE, folder / CACHE, ["cache"], kubeconfig="cache.kubeconfig")
        self.shards = {
            name: Process(name, folder / name, ["run", "--shard-name", name], kubeconfig="admin.kubeconfig")
            for name in SHARDS
        }
        self.cables = {name: Cable() for name in SHARDS}
        self.recorders = {name: Recorder(process) for name, process in self.shards.items()}
        self.moves = dict.fromkeys(SHARDS, 0)
        self.books = Books(World({name: Home() for name in SHARDS}), time.monotonic())
        self.tampered: list[Tampered] = []
        self.copies: dict[str, tuple[float, World]] = {}
        """When a data directory was copied, and what was so then."""
        self.young: set[str] = set()
        """Shards whose store is not the one that the cache knows, until an operator adopts it."""
        self.history_broke: set[str] = set()
        """Whose store was replaced since everything was calm."""
        self.calm_since = 0.0

    def process(self, name: str) -> Process:
        """Return a shard's or the cache server's process."""
        return self.cache if name == CACHE else self.shards[name]

    async def leave(self, folder: Path) -> Beginning:
        """End all processes, and keep what they had in that folder as a beginning for others."""
        for process in self.processes[::-1]:
            await process.end(signal.SIGTERM)
            process.copy(folder / process.name)
        return Beginning(folder, self.books.now)

    @property
    def processes(self) -> list[Process]:
        """All of them, the cache server first."""
        return [self.cache, *self.shards.values()]

    def is_well(self, name: str) -> bool:
        """Say whether a shard and the cache server can hear each other now."""
        return self.cache.answers and self.shards[name].answers and self.cables[name].mode is Mode.OPEN

    async def start_cache(self) -> None:
        """Start the cache server, and lead the cables to it."""
        await self.cache.start()
        for name, cable in self.cables.items():
            cable.lead_to(self.cache.port)
            self.kubeconfig_for(name, self.shards[name].folder, cable)

    def kubeconfig_for(self, name: str, folder: Path, cable: Cable) -> Path:
        """Write the kubeconfig by which a process reaches the cache server through its cable."""
        text = (self.cache.data / "cache.kubeconfig").read_text()
        made = folder / "cache.kubeconfig"
        made.write_text(text.replace(f"127.0.0.1:{self.cache.port}", f"127.0.0.1:{cable.port}"))
        return made

    def options(self, name: str) -> list[str]:
        """Return the flags of a shard."""
        url = url_of(name, self.moves[name])
        labels = [f"--shard-label=region={FLAGS[name]}"] if FLAGS[name] else []
        kubeconfig = self.shards[name].folder / "cache.kubeconfig"
        urls = [f"--shard-base-url={url_of(name)}", f"--shard-virtual-workspace-url={url}"]
        return [f"--cache-kubeconfig={kubeconfig}", *urls, *labels]

    async def start(self, name: str) -> None:
        """Start a process over what it has."""
        if name == CACHE:
            await self.start_cache()
        else:
            self.shards[name].options = self.options(name)
            await self.shards[name].start()

    def api(self, name: str) -> Api:
        """Return a process' server as its administrator reaches it."""
        return self.process(name).api

    def home(self, name: str) -> Home:
        """Return what the books say of a shard."""
        return self.books.now.of(name)

    async def make_home(self, name: str) -> None:
        """Make what every shard has at its beginning, where it is not yet."""
        cluster = (await self._asked(name, "workspace.create", path=f"root:{name}"))["cluster"]
        shard = ShardObject(url_of(name, self.moves[name]), flag_labels(name))
        home = self.home(name)._replace(shards={name: shard}, clusters={"root": "root", f"root:{name}": cluster})
        self.books.change(self.books.now.with_home(name, home), time.monotonic())

    async def _asked(self, name: str, what: str, **details: str) -> Any:
        found = await self.shards[name].ask(what, **details)
        assert found is not None, f"expected an answer of {name} to {what}"
        return found


@asynccontextmanager
async def running(folder: Path, beginning: Beginning | None = None) -> AsyncIterator[Site]:
    """Run a site beside the block, with empty stores or from that beginning; all processes have ended afterwards."""
    site = Site(folder)
    if beginning is not None:
        site.books = Books(beginning.world, time.monotonic())
        for process in site.processes:
            shutil.copytree(beginning.folder / process.name, process.data)
    try:
        for cable in site.cables.values():
            await cable.open()
        await site.start_cache()
        async with asyncio.TaskGroup() as group:
            for name in SHARDS:
                group.create_task(site.start(name))
        async with background(*(recorder.run() for recorder in site.recorders.values())):
            yield site
    finally:
        for process in site.processes:
            await process.aclose()
        for cable in site.cables.values():
            await cable.aclose()


async def until(check: Callable[[], Any], within: float, *, pause: float = 0.05) -> Any:
    """Return the first answer of an async check that is neither None nor false; None when that takes too long."""
    end = time.monotonic() + within
    while True:
        if found := await check():
            return found
        if time.monotonic() > end:
            return None
        await asyncio.sleep(pause)
