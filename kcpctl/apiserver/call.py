"""A routed request: the value that every verb works on."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

import msgspec

from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.failures import bad_request
from kcpctl.apiserver.served import Served

WILDCARD = "*"

_DECIMAL = re.compile(r"[+-]?[0-9]+", re.ASCII)
_INT64 = 1 << 63


class Scope(msgspec.Struct, frozen=True):
    """Which logical cluster a request is about, and on which server's terms."""

    cluster: str
    """A logical cluster's name, or `*` for all of them."""
    shard: str = ""
    """Only on the cache server: a shard's name, or `*`."""
    is_cache: bool = False
    """Whether the cache server's own rules apply."""

    @property
    def is_wildcard(self) -> bool:
        """Whether the request spans clusters or shards; only reads of collections may."""
        return self.cluster == WILDCARD or self.shard == WILDCARD


class Query:
    """The query of one request, parsed once; of a repeated parameter the first value counts, as in kube-apiserver."""

    __slots__ = ("_values", "raw")

    def __init__(self, raw: str = "") -> None:
        """Parse what stands after the `?`; parts that make no sense are ignored."""
        self.raw = raw
        self._values: dict[str, list[str]] = {}
        if raw:
            for name, value in parse_qsl(raw, keep_blank_values=True):
                self._values.setdefault(name, []).append(value)

    def __contains__(self, name: str) -> bool:
        """Whether the parameter is there, with whatever value."""
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of parameters."""
        return iter(self._values)

    def __repr__(self) -> str:
        return f"Query({self.raw!r})"

    def text(self, name: str, default: str = "") -> str:
        """Return the parameter's first value."""
        values = self._values.get(name)
        return values[0] if values else default

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of the parameter, in order."""
        return tuple(self._values.get(name, ()))

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return the parameter as a boolean: everything that is there counts as true, but `false` and `0`."""
        values = self._values.get(name)
        return default if values is None else values[0].lower() not in ("false", "0")

    def choice(self, name: str) -> bool | None:
        """Return the parameter as a boolean, None where it is absent."""
        return self.flag(name) if name in self._values else None

    def integer(self, name: str, default: int = 0) -> int:
        """Return the parameter as a 64-bit integer; raises `Failure` (400) when it is none."""
        values = self._values.get(name)
        return default if values is None else parse_int(values[0])


def parse_int(text: str) -> int:
    """Read a signed 64-bit decimal; raises `Failure` (400) with the words of Go's strconv."""
    if not _DECIMAL.fullmatch(text):
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    # 20 digits and more never fit; int() itself refuses very long texts.
    number = int(text) if len(text) <= 20 else _INT64
    if not -_INT64 <= number < _INT64:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return number


class Call(msgspec.Struct, frozen=True):
    """One verb on one served kind, as routing understood it.

    `verb` is one of get, list, watch, create, update, patch, delete, deletecollection. It is known to be among the
    verbs of the kind or subresource; whether the object exists is not known yet.
    """

    verb: str
    served: Served
    scope: Scope
    query: Query
    namespace: str = ""
    """`""` for cluster-scoped kinds, and for reads across all namespaces."""
    name: str = ""
    """`""` for collections. A watch has a name only under the deprecated `/watch/` prefix: that object alone."""
    subresource: str = ""
    headers: Mapping[str, str] = {}
    """Names in lower case."""
    body: bytes = b""
    user: User = User("")

    @property
    def content_type(self) -> str:
        """The body's media type in lower case, without parameters; `""` where the client named none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def user_agent(self) -> str:
        """What the client calls itself."""
        return self.headers.get("user-agent", "")
