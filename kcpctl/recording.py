"""Words of operators that something is gone, kept at the cache server, or acted upon here alone where it keeps none."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from controllers.entries import EXPORT, SHARD, Entry, Removal
from controllers.publishing import SeenShard
from controllers.records import REMOVALS, Record, name_of, record_of
from controllers.removals import Removals
from informers.api.clusters import WILDCARD
from informers.api.errors import AlreadyExists, ApiError, ConfigurationError, DecodeError, NotFound, TransportError
from informers.api.objects import Object
from informers.client.server import Server
from informers.clock import Clock
from kcpctl.effects import Going
from kcpctl.logs import told
from kcpctl.operating import Removed

_FAILURES = (ApiError, TransportError, DecodeError)


class Recorder:
    """Keeps removals at a cache server."""

    def __init__(self, cache: Server, removals: Removals, clock: Clock, kubeconfig: str = "") -> None:
        """Keep them there; `removals` acts upon those that are not kept. `kubeconfig` is how people see them."""
        self.cache = cache
        self._removals = removals
        self._clock = clock
        self._kubeconfig = kubeconfig

    @property
    def keeps(self) -> bool:
        """Whether the cache server keeps removals, as far as is known."""
        return self._removals.are_kept is not False

    def done(self, what: str, deleted: int, recorded: Sequence[bool], going: Going) -> Removed:
        """Return what was done."""
        is_alone = not all(recorded)
        return Removed(what, deleted, sum(recorded), is_alone, going.objects, going.endpoints, self._kubeconfig)

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

    async def find(self, removal: Removal) -> Object[Record] | None:
        """Return such a word as it is kept, if it is."""
        try:
            return await self.cache.client(removal.cluster, removal.shard).get(REMOVALS, name_of(removal))
        except NotFound:
            return None

    async def of_export(self, cluster: str, name: str) -> list[Object[Record]]:
        """Return the words on an export that are kept, whichever shard it was at, by its cluster's name or path."""
        try:
            every = await self.cache.client(WILDCARD, WILDCARD).list(REMOVALS)
        except NotFound:
            return []  # this cache server keeps none
        said = [one for one in every if (one.value.spec.kind, one.value.spec.name) == (EXPORT, name)]
        return [one for one in said if cluster in (one.cluster, one.value.spec.path)]


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
