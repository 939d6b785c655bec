"""The catalogue: kinds that are built in, and those that each logical cluster has defined."""

from collections.abc import Iterable, Iterator

import msgspec

from kcpctl.apiserver.call import WILDCARD
from kcpctl.apiserver.crds.definition import TERMINATING
from kcpctl.apiserver.crds.kinds import Schemas, kinds_of
from kcpctl.apiserver.crds.naming import Claims, is_named
from kcpctl.apiserver.crds.validation import is_true
from kcpctl.apiserver.served import JSON, Context, FieldError, Served

GroupVersionPlural = tuple[str, str, str]


class _Defined(msgspec.Struct):
    """One definition as the catalogue keeps it."""

    crd: JSON
    kinds: list[Served] = []
    terminating: bool = False


class CrdCatalog:
    """Which kinds a logical cluster serves: the same built-in ones everywhere, and its own custom ones.

    Definitions come in by `define` and go by `forget`, both at once: the next look-up sees the change. A kind whose
    definition changes becomes another `Served`; both methods return the kinds that ended, whose watches must end too.
    """

    def __init__(self, builtins: Iterable[Served]) -> None:
        """Serve the built-in kinds everywhere."""
        self._builtins = tuple(builtins)
        self._by_name = {_key(kind): kind for kind in self._builtins}
        self._clusters: dict[str, dict[str, _Defined]] = {}
        self._found: dict[str, dict[GroupVersionPlural, Served]] = {}
        self._everywhere: dict[GroupVersionPlural, Served] = {}
        self._versions: dict[str, int] = {}
        self._schemas = Schemas()

    def find(self, cluster: str, group: str, version: str, plural: str) -> Served | None:
        """Return the served kind, or None; `*` finds what any cluster serves."""
        key = (group, version, plural)
        found = self._by_name.get(key)
        if found is not None:
            return found
        own = self._everywhere if cluster == WILDCARD else self._found.get(cluster)
        return own.get(key) if own else None

    def served(self, cluster: str) -> Iterable[Served]:
        """Return everything that the cluster serves: built-in kinds first, then custom ones in order of their names."""
        own = self._everywhere if cluster == WILDCARD else self._found.get(cluster, {})
        return (*self._builtins, *own.values())

    def version(self, cluster: str) -> str:
        """Return a text that changes whenever `served(cluster)` does."""
        return str(self._versions.get(cluster, 0))

    def definitions(self, cluster: str) -> Iterator[JSON]:
        """Iterate over the cluster's definitions; none of them may be changed."""
        for defined in self._clusters.get(cluster, {}).values():
            yield defined.crd

    def definition(self, cluster: str, name: str) -> JSON | None:
        """Return a definition by its name, `plural.group`; it may not be changed."""
        found = self._clusters.get(cluster, {}).get(name)
        return found.crd if found else None

    def is_built_in(self, crd: JSON) -> bool:
        """Say whether the objects of a definition would be stored where those of a built-in kind are."""
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        return any((kind.group, kind.plural) == (group, plural) for kind in self._builtins)

    def is_terminating(self, cluster: str, served: Served) -> bool:
        """Say whether a custom kind is going away, so that no new objects may be made."""
        found = self._clusters.get(cluster, {}).get(f"{served.plural}.{served.group}")
        return found is not None and found.terminating

    def claims(self, cluster: str, group: str, *, but: str) -> Claims:
        """Return the names that are taken in a group by all but one definition."""
        taken = [
            crd["status"].get("acceptedNames") or {}
            for crd in self.definitions(cluster)
            if crd["spec"]["group"] == group and crd["metadata"]["name"] != but
        ]
        builtins = [
            {"plural": k.plural, "singular": k.singular, "shortNames": k.short_names, "kind": k.kind}
            for k in self._builtins
            if k.group == group
        ]
        return Claims.of([*taken, *builtins])

    def define(self, cluster: str, crd: JSON) -> list[Served]:
        """Take in a definition that is new or has changed; return the kinds that ended."""
        name = crd["metadata"]["name"]
        own = self._clusters.setdefault(cluster, {})
        old = own.get(name)
        defined = own[name] = _Defined(crd, terminating=is_true(crd, TERMINATING))
        if old is not None and old.kinds and _is_same(old.crd, crd):
            defined.kinds = old.kinds
            return []
        defined.kinds = kinds_of(crd, self._schemas) if is_named(crd) else []
        return self._exchange(cluster, old.kinds if old else [], defined.kinds)

    def forget(self, cluster: str, name: str) -> list[Served]:
        """Drop a definition that is gone; return the kinds that ended."""
        old = self._clusters.get(cluster, {}).pop(name, None)
        return self._exchange(cluster, old.kinds, []) if old else []

    def _exchange(self, cluster: str, old: list[Served], new: list[Served]) -> list[Served]:
        if not old and not new:
            return []
        own = self._found.setdefault(cluster, {})
        for kind in old:
            own.pop(_key(kind), None)
        own.update((_key(kind), kind) for kind in new)
        self._found[cluster] = dict(sorted(own.items()))
        for changed in (cluster, WILDCARD):
            self._versions[changed] = self._versions.get(changed, 0) + 1
        ended = [self._spread(key) for key in dict.fromkeys(_key(kind) for kind in (*old, *new))]
        return [*old, *(kind for kind in ended if kind is not None)]

    def _spread(self, key: GroupVersionPlural) -> Served | None:
        """Serve a kind across clusters as long as any cluster has it, whatever its schema there; return what ended."""
        having = next((own[key] for own in self._found.values() if key in own), None)
        if having is None:
            return self._everywhere.pop(key, None)
        if key not in self._everywhere:
            self._everywhere[key] = msgspec.structs.replace(having, strategy=AsStored(), schema=None)
        return None


class AsStored:
    """The strategy of a kind across clusters, which is only read: each cluster may have a schema of its own."""

    serves_stored_bytes = True

    def coerce(self, obj: JSON) -> list[str]:
        """Know of no unknown fields."""
        del obj
        return []

    def default(self, obj: JSON) -> None:
        """Fill in nothing."""

    def prepare_create(self, obj: JSON, context: Context) -> None:
        """Change nothing."""

    def prepare_update(self, obj: JSON, old: JSON, context: Context) -> None:
        """Change nothing."""

    def validate(self, obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
        """Find nothing wrong."""
        del obj, old, context
        return []

    def to_storage(self, obj: JSON) -> JSON:
        """Return the object."""
        return obj

    def from_storage(self, obj: JSON) -> JSON:
        """Return the object."""
        return obj


def _key(kind: Served) -> GroupVersionPlural:
    return (kind.group, kind.version, kind.plural)


def _is_same(old: JSON, new: JSON) -> bool:
    """Say whether two states of a definition serve the same kinds: watches need not end then."""
    return bool(
        old["spec"] == new["spec"]
        and old["status"]["acceptedNames"] == new["status"]["acceptedNames"]
        and is_named(old) == is_named(new)
    )
