"""What goes wrong: processes that end, freeze, and come back with less than they had; what that means is booked."""

import asyncio
import signal
import time
from functools import partial

import aiohttp

from tests.chaos.api import Refused
from tests.chaos.invariants import Violation
from tests.chaos.plans import CACHE
from tests.chaos.processes import Process
from tests.chaos.proxy import Cable
from tests.chaos.site import Site, flag_labels, until, url_of
from tests.chaos.truth import Home, Lost, ShardObject, World, all_lost
from tests.chaos.work import EXPORTS, SHARD_KIND, Work, bodied

_BURST = 12


class Namesake:
    """A second process with a shard's name, and the cable that it has to the cache server."""

    def __init__(self, process: Process, cable: Cable) -> None:
        self.process = process
        self.cable = cable


class Faults:
    """What can be done to the processes of a site."""

    def __init__(self, site: Site, work: Work) -> None:
        """Do it there."""
        self._site = site
        self._work = work
        self.namesakes: list[Namesake] = []

    async def end(self, name: str, number: signal.Signals) -> None:
        """End a process."""
        await self._site.process(name).end(number)

    async def start(self, name: str) -> None:
        """Start a process that has ended."""
        if not self._site.process(name).runs:
            await self._site.start(name)

    async def restart(self, name: str) -> None:
        """End a process as an administrator does, and start it again."""
        await self.end(name, signal.SIGTERM)
        await self.start(name)

    async def lose(self, name: str, *, everything: bool) -> None:
        """Kill a process, and start it without its store, or with nothing but its certificates."""
        process = self._site.process(name)
        await self._dismiss_namesakes(name)
        await process.end(signal.SIGKILL)
        process.lose_everything() if everything else process.lose_store()
        self._site.history_broke.add(name)
        if name == CACHE:
            await self.start(name)
            return
        own = ShardObject(url_of(name, self._site.moves[name]), flag_labels(name))
        self._replace(name, Home({"root": "root"}, {name: own}))
        await self.start(name)
        await self._work.settle_in(name)

    async def go_back(self, name: str) -> None:
        """Kill a process, and start it over an older copy of its data directory; nothing where there is none."""
        if name not in self._site.copies:
            return
        process, (_, then) = self._site.process(name), self._site.copies[name]
        await self._dismiss_namesakes(name)
        await process.end(signal.SIGKILL)
        process.go_back_to(self._site.folder / f"copy-of-{name}")
        self._site.history_broke.add(name)
        if name == CACHE:
            self._reappear(then)
        else:
            home = then.of(name)
            self._replace(name, home)
            own = home.shards[name]._replace(url=url_of(name, self._site.moves[name]))
            self._replace(name, home._replace(shards={**home.shards, name: own}))
        await self.start(name)

    def _replace(self, name: str, home: Home) -> None:
        """Book another store for a shard: what it does not hold any more is held by all others."""
        world = self._site.books.now
        lost = frozenset(all_lost(name, world.of(name), home))
        self._site.books.change(world._replace(held=world.held | lost).with_home(name, home), time.monotonic())
        self._site.young.add(name)
        self._site.recorders[name].replaced()

    def _reappear(self, then: World) -> None:
        """Book what an older cache shows again although it was deleted: a shard with another store holds it."""
        world = self._site.books.now
        held = {lost for name in self._site.young for lost in all_lost(name, then.of(name), world.of(name))}
        self._site.books.change(world._replace(held=world.held | held), time.monotonic())

    def copy(self, name: str) -> None:
        """Copy a process' data directory at this instant."""
        process = self._site.process(name)
        if process.runs:
            process.copy(self._site.folder / f"copy-of-{name}")
            self._site.copies[name] = (time.monotonic(), self._site.books.now)

    async def move(self, name: str) -> None:
        """Restart a shard so that it publishes itself elsewhere."""
        await self.end(name, signal.SIGTERM)
        self._site.moves[name] += 1
        home = self._site.home(name)
        own = home.shards[name]._replace(url=url_of(name, self._site.moves[name]))
        moved = home._replace(shards={**home.shards, name: own})
        self._site.books.change(self._site.books.now.with_home(name, moved), time.monotonic())
        await self.start(name)

    # Two of one name

    async def namesake(self, name: str, *, is_seen: bool) -> None:
        """Start a second process with a shard's name and nothing in its store, where it sees the cache or does not."""
        site, number = self._site, len(self.namesakes)
        if is_seen and not (site.is_well(name) and await self._is_registered(name)):
            return  # there is nobody whose name it could take
        process = Process(name, site.folder / f"{name}-{number}", ["run", "--shard-name", name], kubeconfig="")
        cable = Cable()
        await cable.open()
        cable.lead_to(site.cache.port)
        kubeconfig = site.kubeconfig_for(name, process.folder, cable)
        process.options = [f"--cache-kubeconfig={kubeconfig}", f"--shard-base-url={url_of('impostor')}"]
        self.namesakes.append(Namesake(process, cable))
        if not is_seen:
            await cable.cut()
        await process.spawn()

    async def refused_namesakes(self, within: float) -> list[Violation]:
        """Let every second process see the cache, and say which of them go on nevertheless."""
        found = []
        for namesake in self.namesakes:
            await until(partial(self._is_registered, namesake.process.name), within)
            await namesake.cable.heal()
            code = await namesake.process.ended(within)
            if code != 2:
                said = "goes on" if code is None else f"ended with {code}"
                told = f"a second process named {namesake.process.name} {said}; see {namesake.process.log}"
                found.append(Violation(time.monotonic(), told, namesake.process.name))
            await namesake.process.aclose()
            await namesake.cable.aclose()
        self.namesakes.clear()
        return found

    async def _dismiss_namesakes(self, name: str) -> None:
        """End those of a shard that comes back over another store: it has no more right to the name than they."""
        for namesake in [one for one in self.namesakes if one.process.name == name]:
            await namesake.process.aclose()
            await namesake.cable.aclose()
            self.namesakes.remove(namesake)

    async def _is_registered(self, name: str) -> bool:
        """Say whether the cache server knows the shard."""
        try:
            await self._site.api(CACHE).call("GET", f"/services/cache/shards/{name}/clusters/root/{SHARD_KIND}/{name}")
        except Refused:
            return False
        return True

    # What was acknowledged

    async def burst(self, home: str) -> list[Violation]:
        """Kill a shard in the middle of writes: each that was acknowledged is there afterwards."""
        site, cluster = self._site, self._work.cluster(home)
        acknowledged: set[str] = set()

        async def write(name: str) -> None:
            try:
                await site.api(home).call("POST", f"/clusters/{cluster}/{EXPORTS}", bodied(EXPORTS, {"name": name}))
            except (aiohttp.ClientError, OSError, Refused):
                return
            acknowledged.add(name)

        before = site.home(home)
        names = [f"b{len(before.exports)}-{number}" for number in range(_BURST)]
        tried = before._replace(exports=before.exports | {(cluster, name) for name in names})
        site.books.change(site.books.now.with_home(home, tried), time.monotonic())
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(write(name))
            while len(acknowledged) < _BURST // 2:
                await asyncio.sleep(0)
            await self.end(home, signal.SIGKILL)
        await self.start(home)
        found = await site.api(home).call("GET", f"/clusters/{cluster}/{EXPORTS}")
        there = {obj["metadata"]["name"] for obj in found["items"]}
        kept = before._replace(exports=before.exports | {(cluster, name) for name in names if name in there})
        site.books.change(site.books.now.with_home(home, kept), time.monotonic())
        lost = sorted(acknowledged - there)
        return [Violation(time.monotonic(), f"acknowledged exports are gone: {', '.join(lost)}", home)] if lost else []

    async def aclose(self) -> None:
        """End what is left."""
        for namesake in self.namesakes:
            await namesake.process.aclose()
            await namesake.cable.aclose()


def unsure_of(world: World, earlier: list[World], broke: set[str]) -> frozenset[Lost]:
    """Return what was deleted, adopted or forgotten while a history broke: some heard of it and others did not."""
    found: set[Lost] = set()
    for name, home in world.homes.items():
        if broke & {name, CACHE}:
            for before in earlier:
                found.update(all_lost(name, before.of(name), home))
                found.update(one for one in before.held if one.home == name)
    return frozenset(found) - world.held
