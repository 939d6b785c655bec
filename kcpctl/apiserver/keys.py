"""Where objects are stored: keys from places, and places from keys.

    /registry/{group}/{plural}/{cluster}/[{namespace}/]{name}             on a shard
    /registry/{group}/{plural}/{shard}/{cluster}/[{namespace}/]{name}     on a cache server

The core group's segment is `core` (`Served.prefix`). A server without logical clusters has `_` in the cluster's place,
which no cluster can be called.
"""

import msgspec

from kcpctl.apiserver.call import WILDCARD, Scope
from kcpctl.apiserver.served import Served

NO_CLUSTER = "_"
"""The segment of servers without logical clusters."""


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where one object lives, as its key says."""

    cluster: str
    """`""` on servers without logical clusters."""
    namespace: str
    name: str
    shard: str = ""


class Extent(msgspec.Struct, frozen=True):
    """The keys that one collection request is about: those under `prefix` whose pieces are as pinned."""

    prefix: str
    pins: tuple[tuple[int, str], ...] = ()
    """(position below the prefix, piece): what a wildcard further left keeps out of the prefix."""

    def covers(self, key: str) -> bool:
        """Say whether a key under the prefix belongs to the collection."""
        if not self.pins:
            return True
        pieces = key[len(self.prefix) :].split("/")
        return all(pieces[position] == piece for position, piece in self.pins)


def object_key(served: Served, scope: Scope, namespace: str, name: str) -> str:
    """Return the key of one object; neither cluster nor shard may be the wildcard."""
    folder = served.prefix + _folder(scope)
    return f"{folder}{namespace}/{name}" if namespace else folder + name


def extent(served: Served, scope: Scope, namespace: str = "") -> Extent:
    """Return the keys of a collection; no namespace means all of them, a wildcard all clusters or shards."""
    pieces = [scope.shard] if scope.is_cache else []
    pieces += [scope.cluster or NO_CLUSTER]
    pieces = ["" if piece == WILDCARD else piece for piece in pieces]
    pieces += [namespace]  # one that is called `*` is a namespace that nobody has
    prefix = served.prefix
    while pieces and pieces[0]:
        prefix += f"{pieces.pop(0)}/"
    return Extent(prefix, tuple((at, piece) for at, piece in enumerate(pieces) if piece))


def place(key: str, *, is_cache: bool = False) -> Place:
    """Read a key."""
    pieces = key.split("/")[4:]
    shard = pieces.pop(0) if is_cache else ""
    cluster = "" if pieces[0] == NO_CLUSTER else pieces[0]
    return Place(cluster, pieces[1] if len(pieces) > 2 else "", pieces[-1], shard)


def _folder(scope: Scope) -> str:
    cluster = scope.cluster or NO_CLUSTER
    return f"{scope.shard}/{cluster}/" if scope.is_cache else f"{cluster}/"
