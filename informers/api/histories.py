"""Which history of its objects a server shows: what some servers say of their store in each list and watch.

    Kcpctl-Store: <identity> <term>@<since> <term>@<since> …

The identity is a UUID that no two stores share, but for copies of one. A term is the time in which one process had the
store; `since` is the revision at which it began, and the newest term comes last. A copy that is restored goes on in
terms of its own, so that a revision which was lost with the original is not taken for a later one of the copy.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import msgspec

STORE = "Kcpctl-Store"
"""The header. A server that does not send it says nothing of its history, and has to be asked what it holds."""

_WORDS = re.compile(r"[!-~]+(?: [!-?A-~]+@[0-9]{1,18})+")


class Lineage(msgspec.Struct, frozen=True):
    """What a server says of the store behind an answer; empty where it says nothing."""

    store: str = ""
    terms: tuple[tuple[str, int], ...] = ()
    """(name, the revision at which it began), oldest first."""

    @property
    def term(self) -> str:
        """The term in which the answer was given."""
        return self.terms[-1][0] if self.terms else ""

    def includes(self, term: str, revision: str) -> bool:
        """Say whether a revision that was seen in the term is one of this history, now or before."""
        if not revision.isdecimal() or not self.terms:
            return False
        if term == self.term:
            return True
        ended = self.end_of(term)
        return ended is not None and int(revision) <= ended

    def end_of(self, term: str) -> int | None:
        """Return the revision at which a term ended in this history; None if it goes on, or is none of it."""
        return next((until for (name, _), (_, until) in pairwise(self.terms) if name == term), None)


UNTOLD = Lineage()
"""What a server says that says nothing."""


@lru_cache(maxsize=64)
def read_lineage(text: str) -> Lineage:
    """Read the header; a text in another form says nothing."""
    if not _WORDS.fullmatch(text):
        return UNTOLD
    store, *terms = text.split(" ")
    return Lineage(store, tuple((name, int(since)) for name, _, since in (term.rpartition("@") for term in terms)))


Told: TypeAlias = Callable[[Lineage], None]
"""Learns which store a good answer came from, before anybody reads its body."""


def untold(_: Lineage) -> None:
    """Care for no store."""
