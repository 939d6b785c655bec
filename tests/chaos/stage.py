"""A plan at work: one step after the other, then calm, then what became of it."""

import signal
import time
from asyncio import TaskGroup, sleep

from tests.chaos import operators
from tests.chaos.calm import calm, writes
from tests.chaos.faults import Faults, unsure_of
from tests.chaos.invariants import Violation, unfounded
from tests.chaos.plans import CACHE, SHARDS, Step
from tests.chaos.processes import kcpctl
from tests.chaos.site import Site, until
from tests.chaos.tampering import Tampering
from tests.chaos.truth import Home
from tests.chaos.work import Work

_DELAY = 0.15
_NAMESAKE_ENDS_WITHIN = 12.0
_HELD_WITHIN = 30.0
"""Seconds in which a shard has its segment of the cache after a start."""
_ALIVE_AS_LONG_AS = 30.0
"""Seconds after which a shard that is silent may be removed."""


class Stage:
    """Plays plans at a site."""

    def __init__(self, site: Site, commands: dict[str, operators.Command]) -> None:
        """Play there, with the operators' commands that are built."""
        self._site = site
        self._commands = commands
        self._work = Work(site)
        self._faults = Faults(site, self._work)
        self._tampering = Tampering(site, self._work)
        self.at = 0.0
        """When the step began that is being played."""

    async def begin(self) -> list[Violation]:
        """Make what every shard has at the beginning."""
        async with TaskGroup() as group:
            for name in SHARDS:
                group.create_task(self._work.settle_in(name))
        return await self.settle()

    async def play(self, step: Step) -> list[Violation]:
        """Play one step; steps that make no sense now do nothing."""
        self.at = time.monotonic()
        verb, words = step.verb, step.words
        if verb in ("cut", "half-open", "delay", "truncate", "heal"):
            await self._network(verb, words[0])
        elif verb in ("kill", "end", "start", "restart", "freeze", "thaw", "empty", "wipe", "older", "copy", "jump"):
            await self._process(verb, *words)
        elif verb in ("move", "burst") and self._site.shards[words[0]].answers:
            if verb == "burst":
                return await self._faults.burst(words[0])
            await self._faults.move(words[0])
        elif verb == "namesake":
            await self._faults.namesake(words[0], is_seen=words[1] == "seen")
        elif verb == "tamper":
            return await self._tampering.tamper(*words)
        elif verb == "wait":
            await sleep(float(words[0]))
        elif verb == "settle":
            return await self.settle()
        elif verb in {command.verb for command in operators.COMMANDS}:
            if verb in self._commands:
                return await self._operate(self._commands[verb], words[0])
        elif words and self._site.shards[words[0]].answers:
            await getattr(self._work, verb.replace("-", "_"))(*words)
        return []

    async def _network(self, verb: str, name: str) -> None:
        cable = self._site.cables[name]
        if verb == "cut":
            await cable.cut()
        elif verb == "half-open":
            cable.half_open()
        elif verb == "delay":
            cable.delay(_DELAY)
        elif verb == "truncate":
            cable.truncate(3)
        else:
            await cable.heal()

    async def _process(self, verb: str, name: str, *words: str) -> None:
        process, faults = self._site.process(name), self._faults
        if verb in ("kill", "end"):
            await faults.end(name, signal.SIGKILL if verb == "kill" else signal.SIGTERM)
        elif verb == "start":
            await faults.start(name)
        elif verb == "restart":
            await faults.restart(name)
        elif verb == "freeze":
            process.freeze()
        elif verb == "thaw":
            process.thaw()
        elif verb == "copy":
            faults.copy(name)
        elif verb == "jump":
            process.clock.jump(float(words[0]))
        elif verb == "older":
            await faults.go_back(name)
        else:
            await faults.lose(name, everything=verb == "wipe")

    # Calm

    async def settle(self) -> list[Violation]:
        """End every fault, wait until all is calm, and look at all that happened since the last time."""
        site = self._site
        for cable in site.cables.values():
            await cable.heal()
        for process in site.processes:
            process.thaw()
        for name in (CACHE, *SHARDS):
            await self._faults.start(name)
        impostors = await self._faults.refused_namesakes(_NAMESAKE_ENDS_WITHIN)
        world, now = site.books.now, time.monotonic()
        unsure = unsure_of(world, site.books.between(site.calm_since, now), site.history_broke)
        site.books.change(world._replace(unsure=world.unsure | unsure), now)
        found = await calm(site)
        found += unfounded(site.books, site.recorders, site.tampered, since=site.calm_since)
        site.calm_since = time.monotonic()
        site.tampered.clear()
        site.history_broke.clear()
        return sorted(impostors + found)

    async def be_silent(self, seconds: float) -> list[Violation]:
        """Say what is lost, and who writes, although nothing is left to do."""
        site = self._site
        written = await writes(site, seconds)
        return [*sorted(unfounded(site.books, site.recorders, (), since=site.calm_since)), *written]

    async def aclose(self) -> None:
        """End what was started beside the site's own processes."""
        await self._faults.aclose()

    # Operators

    async def _operate(self, command: operators.Command, name: str) -> list[Violation]:
        """Give an operator's command, and book what it is evidence of."""
        if not self._site.cache.answers:
            return []
        if command.verb == "adopt":
            return await self._adopt(command, name)
        if command.verb == "forget":
            return await self._forget(command, name)
        return await self._remove(command, name)

    async def _adopt(self, command: operators.Command, name: str) -> list[Violation]:
        """Adopt a store, as soon as the shard has its segment of the cache."""
        site, world = self._site, self._site.books.now
        if not site.is_well(name):
            return []
        held = frozenset(one for one in world.held if one.home != name)
        site.books.change(world._replace(held=held), time.monotonic())
        site.young.discard(name)
        arguments = (*command.words, "--data-dir", str(site.shards[name].data))
        said = ""

        async def is_adopted() -> bool:
            nonlocal said
            code, said = await kcpctl(*arguments)
            return code == 0

        if await until(is_adopted, _HELD_WITHIN, pause=1.0):
            return []
        return [Violation(time.monotonic(), f"kcpctl {' '.join(arguments)} is refused: {said.strip()}", name)]

    async def _forget(self, command: operators.Command, name: str) -> list[Violation]:
        site, world = self._site, self._site.books.now
        lost = sorted(one for one in world.held | world.unsure if one.home == name and one.shard is None)
        asker = next((one for one in SHARDS if site.is_well(one)), None)
        if not lost or asker is None:
            return []
        gone = frozenset(lost[:1])
        site.books.change(world._replace(held=world.held - gone, unsure=world.unsure - gone), time.monotonic())
        where = ("--data-dir", str(site.shards[asker].data))
        return await self._asked(command, lost[0].cluster, lost[0].name, *where)

    async def _remove(self, command: operators.Command, name: str) -> list[Violation]:
        """Remove a shard once it has been silent for long enough, then let it come back with what it had."""
        site = self._site
        asker = next((one for one in SHARDS if one != name and site.is_well(one)), None)
        if asker is None:
            return []
        await self._faults.end(name, signal.SIGKILL)
        world = site.books.now
        home = world.of(name)
        removed = home._replace(shards={}, exports=frozenset())
        held = frozenset(one for one in world.held if one.home != name)
        site.books.change(world._replace(held=held).with_home(name, Home(*removed)), time.monotonic())
        arguments = (*command.words, name, "--data-dir", str(site.shards[asker].data))

        async def is_removed() -> bool:
            return (await kcpctl(*arguments))[0] == 0

        is_done = await until(is_removed, _ALIVE_AS_LONG_AS, pause=1.0)
        site.books.change(site.books.now.with_home(name, home), time.monotonic())
        await self._faults.start(name)
        if is_done:
            return []
        return [Violation(time.monotonic(), f"kcpctl {' '.join(arguments)} is refused while {name} is dead", name)]

    async def _asked(self, command: operators.Command, *arguments: str) -> list[Violation]:
        code, said = await kcpctl(*command.words, *arguments)
        if code == 0:
            return []
        told = f"kcpctl {' '.join((*command.words, *arguments))} ended with {code}: {said.strip()}"
        return [Violation(time.monotonic(), told)]
