"""Words of operators that something is gone, kept at the cache server, or acted upon here alone where it keeps none."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from controllers.entries import EXPORT, SHARD, Entry, Removal
from controllers.publishing import SeenShard
from controllers.records import REMOVALS, name_of, record_of
from controllers.removals import Removals
from informers.api.errors import AlreadyExists, ApiError, ConfigurationError, DecodeError, NotFound, TransportError
from informers.client.server import Server
from informers.clock import Clock
from kcpctl.logs import told

_FAILURES = (ApiError, TransportError, DecodeError)


class Recorder:
    """Keeps removals at a cache server."""

    def __init__(self, cache: Server, removals: Removals, clock: Clock) -> None:
        """Keep them there; `removals` acts upon those that are not kept."""
        self.cache = cache
        self._removals = removals
        self._clock = clock

    async def record(self, removal: Removal, *, is_former: bool = False) -> bool:
        """Have it kept, or act upon it here alone; return whether it is kept.

        One of what was there before is kept beside that of what has taken its place.
        """
        client = self.cache.client(removal.cluster, removal.shard)
        body = record_of(removal, self._clock.now(), is_former=is_former)
        try:
            await client.create(REMOVALS, body)
        except AlreadyExists:
            earlier = name_of(removal, is_former=is_former)
            await client.delete(REMOVALS, earlier)  # maybe of another object
            await client.create(REMOVALS, body)
        except NotFound:
            self._removals.say(removal)
            return False
        return True

    async def take_back(self, removal: Removal) -> None:
        """Have it kept no more."""
        with suppress(NotFound):
            await self.cache.client(removal.cluster, removal.shard).delete(REMOVALS, name_of(removal))

    async def is_recorded(self, removal: Removal) -> bool:
        """Say whether such a word is kept already."""
        try:
            await self.cache.client(removal.cluster, removal.shard).get(REMOVALS, name_of(removal))
        except NotFound:
            return False
        return True


def removal_of(entry: Entry, shard: str) -> Removal:
    """Return the word that what was seen is gone, `shard` being where it was."""
    what, key = entry.what, entry.key
    if isinstance(what, SeenShard):
        return Removal(SHARD, shard, key.cluster, key.name, entry.uid, url=what.url)
    return Removal(EXPORT, shard, key.cluster, key.name, entry.uid, path=what.path)


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Have a failure of the cache server tell that the work is not done."""
    try:
        yield
    except _FAILURES as error:
        raise ConfigurationError(
            f"expected the cache server to take the removal of {what} to its end, found {told(error)}; "
            "do it once more when `kcpctl status` says that the cache is reachable"
        ) from error
