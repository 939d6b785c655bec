"""Whatever goes wrong, and in whatever order: what was lost is never said to have been deleted."""

import asyncio
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from informers.api.histories import UNTOLD, Lineage
from informers.cache.notices import Evidence
from informers.cache.policy import Policy
from informers.clock import VirtualClock
from tests.informers.cache.rig import Rig
from tests.informers.cache.scripted import Server
from tests.informers.cache.storm import Storm, failure_of, names, step, steps

START = 100_000


class Losses(Storm):
    """A server's fate with all that can happen to its data; it remembers what was really deleted from them."""

    def __init__(self, server: Server, rig: Rig) -> None:
        super().__init__(server, rig)
        self.deleted: set[str] = set()
        """The uids of what was deleted in the history that the server has now."""
        self._count = 0
        self._uids: dict[str, str] = {}
        self._copies: list[tuple[Callable[[], None], set[str], dict[str, str]]] = []

    def put(self, name: str) -> None:
        """Every object that is made has a uid of its own."""
        if name not in self._uids:
            self._count += 1
            self._uids[name] = f"uid-{self._count}"
        self._server.put(name, uid=self._uids[name], spec={"revision": self._server.revision})

    def delete(self, name: str) -> None:
        if name in self._server.objects:
            self.deleted.add(self._uids.pop(name, ""))
            self._server.delete(name)

    def lose_history(self, _: None) -> None:
        self._anew(1)

    def empty(self, difference: int) -> None:
        """Lose everything; the revision is then lower than it was, the same, or higher."""
        self._server.objects.clear()
        self._uids.clear()
        self._anew(max(1, self._server.revision + difference))

    def copy(self, _: None) -> None:
        self._copies.append((self._server.copied(), set(self.deleted), dict(self._uids)))

    def restore(self, number: int) -> None:
        if self._copies:
            restore, deleted, uids = self._copies[number % len(self._copies)]
            restore()
            self.deleted, self._uids = set(deleted), dict(uids)

    def restart(self, _: None) -> None:
        self._server.restart()

    def send_old_bookmark(self, revision: int) -> None:
        """Not one from the future: revisions may be as low as that here."""
        super().send_old_bookmark(min(revision, self._server.revision))

    def refuse_the_past(self, shows: bool) -> None:
        self._server.shows_past = shows

    def fail_exact(self, code: int) -> None:
        self._server.fail_next("exact", failure_of(code))

    def _anew(self, revision: int) -> None:
        """Go on with the objects that are left in another store."""
        self._count += 1
        said = self._server.lineage.store
        lineage = Lineage(f"store-{self._count}", ((f"first-{self._count}", revision),)) if said else UNTOLD
        self._server.be_replaced(revision, lineage, **self._server.objects)
        self.deleted.clear()

    async def pass_by(self) -> None:
        self._server.cut()  # a watch that ended on time and was resumed in another store is found out at its next break
        await super().pass_by()


losses = st.one_of(
    steps,
    *[step(Losses.empty, st.sampled_from([-50_000, 0, 1, 5, 50]))] * 2,
    *[step(what, st.none()) for what in (Losses.copy, Losses.copy, Losses.restart)],
    *[step(Losses.restore, st.integers(0, 3))] * 2,
    *[step(Losses.put, names), step(Losses.delete, names)] * 3,
    step(Losses.refuse_the_past, st.booleans()),
    step(Losses.fail_exact, st.sampled_from([400, 403, 410, 429, 500, 503, 504])),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(losses, min_size=12, max_size=60), st.booleans(), st.booleans(), st.booleans())
def test_what_was_lost_is_never_said_to_have_been_deleted(
    storm: list[Any], streaming: bool, named: bool, careful: bool
) -> None:
    """Of a server that names its store, and of one that does not, with an informer that is careful or not."""

    async def scenario() -> None:
        lineage = Lineage("store-0", (("term-0", START),)) if named else UNTOLD
        server = Server(VirtualClock(), revision=START, begun=START, lineage=lineage)
        rig = Rig(server, Policy(stream=streaming, slice=0.0), careful=careful)
        weather = Losses(server, rig)
        rig.informer.add_handler(lambda notice: check(weather, notice), name="judge")
        weather.put("a")
        async with rig.running(synced=False):
            await rig.clock.advance(4.0)
            for what, argument, pause in storm:
                getattr(weather, what.__name__)(argument)  # as this server takes it
                if pause is not None:
                    await rig.clock.advance(pause)
            await weather.pass_by()

            if named or careful:
                rig.assert_converged()
                assert rig.informer.live

        assert failures == []

    failures: list[str] = []

    def check(weather: Losses, notice: Any) -> None:
        if notice.evidence is Evidence.ABSENT_FROM_LIST and notice.old.uid not in weather.deleted:
            failures.append(f"{notice.key.name} {notice.old.uid} at {notice.old.rv}")

    asyncio.run(scenario())
