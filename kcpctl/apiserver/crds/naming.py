"""Which names a definition gets: the first to ask for a name in a group has it."""

from collections.abc import Iterable
from typing import Any

import msgspec

from kcpctl.apiserver.crds.validation import is_true
from kcpctl.apiserver.served import JSON

NAMES_ACCEPTED = "NamesAccepted"


class Claims(msgspec.Struct, frozen=True):
    """The names that are taken in one group of one logical cluster."""

    resources: frozenset[str]
    """Plurals, singulars and short names."""
    kinds: frozenset[str]
    """Kinds and kinds of lists."""

    @classmethod
    def of(cls, accepted: Iterable[JSON]) -> "Claims":
        """Collect the names of several definitions, or of kinds that are built in."""
        resources: set[str] = set()
        kinds: set[str] = set()
        for names in accepted:
            resources.update(names.get("shortNames") or ())
            resources.update(names[name] for name in ("plural", "singular") if names.get(name))
            kinds.update(names[name] for name in ("kind", "listKind") if names.get(name))
        return cls(frozenset(resources), frozenset(kinds))


class Verdict(msgspec.Struct, frozen=True):
    """What a definition gets of what it asks for."""

    accepted: JSON
    """For status.acceptedNames."""
    reason: str = "NoConflicts"
    message: str = "no conflicts found"

    @property
    def is_good(self) -> bool:
        """Whether all names are accepted."""
        return self.reason == "NoConflicts"


def judge(crd: JSON, taken: Claims) -> Verdict:
    """Decide about a definition's names, given those that others have; each name is decided alone."""
    wanted: JSON = crd["spec"]["names"]
    owned: JSON = crd["status"].get("acceptedNames") or {}
    accepted = dict(owned)
    problem: tuple[str, str] | None = None
    for name, conflict, used in (
        ("plural", "PluralConflict", taken.resources),
        ("singular", "SingularConflict", taken.resources),
        ("shortNames", "ShortNamesConflict", taken.resources),
        ("kind", "KindConflict", taken.kinds),
        ("listKind", "ListKindConflict", taken.kinds),
    ):
        clashes = _clashes(wanted.get(name), owned.get(name), used)
        if clashes:
            problem = (conflict, clashes[0] if len(clashes) == 1 else f"[{', '.join(clashes)}]")
        else:
            accepted[name] = wanted.get(name)
    accepted["categories"] = wanted.get("categories")
    given = {name: accepted[name] for name in _ORDER if accepted.get(name) or name in ("plural", "kind")}
    return Verdict(given, *problem) if problem else Verdict(given)


_ORDER = ("plural", "singular", "shortNames", "kind", "listKind", "categories")


def _clashes(wanted: Any, owned: Any, used: frozenset[str]) -> list[str]:
    wanted_names = wanted if isinstance(wanted, list) else [wanted or ""]
    owned_names = owned if isinstance(owned, list) else [owned or ""]
    return [f'"{name}" is already in use' for name in wanted_names if name not in owned_names and name in used]


def is_named(crd: JSON) -> bool:
    """Say whether the definition has its names, so that its kinds can be served."""
    return is_true(crd, NAMES_ACCEPTED) or is_true(crd, "Established")
