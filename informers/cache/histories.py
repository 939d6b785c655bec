"""In which of a server's histories an informer stands, and what shows that an answer goes on with it.

A server that says which store it shows (`informers.api.histories`) is believed: that costs nothing. Any other has to
show that it held, at the revision we have reached, exactly what we hold: the same keys with the same uids and
revisions. So much is asked only of informers that are `careful`, those for which absence means something.
"""

from datetime import datetime
from enum import Enum
from typing import Generic, TypeVar

import msgspec

from informers.api.decoding import Page
from informers.api.errors import InformersError
from informers.api.histories import UNTOLD, Lineage
from informers.api.objects import Key
from informers.cache.quarantine import Quarantine
from informers.cache.recovery import Happened, Trouble, trouble_of
from informers.cache.revisions import is_older
from informers.cache.source import Source
from informers.cache.store import Store
from informers.clock import Clock

T = TypeVar("T")

_PAGE = 500
_PATIENCE = 3
"""Failures of the server in a row after which it counts as one that cannot show the past."""

_DENIALS = frozenset({Trouble.EXPIRED, Trouble.TOO_LARGE, Trouble.REJECTED, Trouble.NONSENSE})
"""Answers that are as good as another state: whoever gives them does not show our history."""


class History(msgspec.Struct, frozen=True):
    """How far an informer has followed which history."""

    store: str
    """The identity of the store; "" where the server says nothing of it."""
    term: str
    """The term of the store in which the revision was seen."""
    revision: str
    began: datetime
    """Since when what was seen hangs together."""
    number: int
    """Counts the histories of one informer, from 1."""


class Continuity(Enum):
    """What an answer is to the history that is known."""

    SAME = "the same history"
    NEW = "a new history"
    UNPROVEN = "nobody has shown that it is the same history"


def compare(known: Lineage, reached: str, lineage: Lineage, revision: str) -> Continuity:
    """Compare a server at `revision` with what was known at the revision that was `reached`, by their words alone."""
    if is_older(revision, reached) or lineage.store != known.store:
        return Continuity.NEW
    if not lineage.store:
        return Continuity.UNPROVEN
    return Continuity.SAME if lineage.includes(known.term, reached) else Continuity.NEW


def replaced(revision: str) -> Happened:
    """Return what to raise when a server at the revision turns out to have another history."""
    return Happened(Trouble.REPLACED, f"expected the history that is known, found another one at revision {revision}")


class Historian(Generic[T]):
    """Judges answers of a server by the history that the store's content is of."""

    def __init__(
        self, source: Source[T], store: Store[T], quarantine: Quarantine, clock: Clock, *, careful: bool
    ) -> None:
        """Ask the source for what the store and the quarantine hold, where the server's word is not enough."""
        self._source = source
        self._store = store
        self._quarantine = quarantine
        self._clock = clock
        self.careful = careful
        """Whether a server that says nothing of its store has to show our history."""
        self._lineage = UNTOLD
        self._began: datetime | None = None
        self._number = 0
        self._failures = 0

    @property
    def history(self) -> History | None:
        """Where the store stands; None before its first whole state."""
        if self._began is None:
            return None
        return History(self._lineage.store, self._lineage.term, self._store.revision, self._began, self._number)

    @property
    def lineage(self) -> Lineage:
        """What the server said of the store that the content is of."""
        return self._lineage

    def compare(self, lineage: Lineage, revision: str) -> Continuity:
        """Compare a server's words with the history that is known."""
        return compare(self._lineage, self._store.revision, lineage, revision)

    def continues(self, past: History) -> bool:
        """Say whether the store's content goes on from a point that somebody noted, be it in another process.

        Only the word of a server that names its store counts for that.
        """
        noted = Lineage(past.store, ((past.term, 0),))
        return compare(noted, past.revision, self._lineage, self._store.revision) is Continuity.SAME

    async def judge(self, lineage: Lineage, revision: str) -> Continuity:
        """Say whether a state that was fetched goes on with what the store holds.

        To be asked behind the fetching: a store that is replaced meanwhile then shows in one or the other. Raises what
        keeps a server from answering.
        """
        if self._began is None:
            return Continuity.NEW
        found = self.compare(lineage, revision)
        return await self._prove() if found is Continuity.UNPROVEN and self.careful else found

    async def admit(self, lineage: Lineage, *, doubted: bool) -> None:
        """Let a watch go on from where the store stands; raises `Happened` where it is one of another history.

        The watch has been accepted, and has brought nothing yet. `doubted`: the server's word is not enough.
        """
        reached = self._store.revision
        continuity = await self.judge(lineage, reached) if doubted else self.compare(lineage, reached)
        if continuity is Continuity.NEW:
            raise replaced(reached)
        self._lineage = lineage

    def follow(self, lineage: Lineage, continuity: Continuity) -> None:
        """The store's content goes on in the newest term of the lineage, or is a new history that begins there."""
        self._lineage = lineage
        if continuity is Continuity.NEW:
            self._began = self._clock.now()
            self._number += 1

    async def _prove(self) -> Continuity:
        try:
            is_shown = await self._is_shown()
        except InformersError as error:
            if not self._is_denial(trouble_of(error)):
                raise
            is_shown = False
        self._failures = 0
        return Continuity.SAME if is_shown else Continuity.NEW

    def _is_denial(self, trouble: Trouble) -> bool:
        self._failures = self._failures + 1 if trouble is Trouble.FAILED else 0
        return trouble in _DENIALS or self._failures >= _PATIENCE

    async def _is_shown(self) -> bool:
        """Say whether the server shows, at exactly our revision, exactly what we hold."""
        rv, continue_ = self._store.revision, ""
        shown: set[Key] = set()
        while rv:
            page = await self._source.exact_page(rv=rv, limit=_PAGE, continue_=continue_)
            if page.revision != rv or not self._holds(page):
                return False
            shown.update(obj.key for obj in page.objects)
            shown.update(malformed.key for malformed in page.malformed if malformed.key.name)
            if not page.continue_:
                set_aside = {key for key in self._quarantine.errors if key.name}
                return shown == {*self._store.keys, *set_aside}
            if page.continue_ == continue_:
                return False  # it would go on so for ever
            continue_ = page.continue_
        return False

    def _holds(self, page: Page[T]) -> bool:
        """Say whether the objects of the page are ours; of what is set aside we hold an older state, or none."""
        aside = self._quarantine.errors
        for obj in page.objects:
            held = self._store.get(obj.key)
            if obj.key not in aside and (held is None or (held.uid, held.rv) != (obj.uid, obj.rv)):
                return False
        return True
