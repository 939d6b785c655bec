"""Where the revisions of a new store begin, and how the terms are named in which they go on."""

import secrets
from datetime import UTC, datetime, timedelta

from kcpctl.apiserver.storage.base import Term

_EPOCH = datetime(2025, 1, 1, tzinfo=UTC)


def first_revision(now: datetime) -> int:
    """Return the revision that a store begins at when it is made: microseconds since the start of 2025.

    A store that comes back empty (in memory, or its files are gone) so goes on above every revision that it gave out
    before, as long as it took fewer than a million writes a second and the clock was not set back. Clients that hold
    an old revision then get a 410, where a real server that starts from 1 again would accept it and stay silent. The
    numbers stay below 2^53 until the year 2310.
    """
    return (now - _EPOCH) // timedelta(microseconds=1)


def new_term(since: int) -> Term:
    """Return a term that begins at the store's revision; a name that is taken is one chance in four billion."""
    return Term(secrets.token_hex(4), since)
