"""Strategic merge patches: lists whose entries have keys, and directives inside the patch.

A table says how lists are treated (`shapes.openapi.merge_table`): entries with the same value of a merge key are
merged, scalars of a set are added, all other lists are replaced.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kcpctl.apiserver.gotext import plain
from kcpctl.apiserver.patches.errors import DoesNotApply, Malformed, Unexpected
from kcpctl.apiserver.patches.ordering import deduplicated, identity, in_order, places
from kcpctl.apiserver.served import JSON

DIRECTIVE = "$patch"
_DELETE_FROM = "$deleteFromPrimitiveList"
_ORDER = "$setElementOrder"
_RETAIN = "$retainKeys"

Table = Mapping[str, Any]

_BAD_ORDER = "invalid patch format of setElementOrder list"
_BAD_RETAIN = "invalid patch format of retainKeys"
_BAD_DELETE = "invalid patch format of primitive list"


def merge(document: JSON, patch: JSON, table: Table) -> JSON:
    """Return the document with the patch applied; both are used up.

    Raises `Malformed`, `DoesNotApply` and `Unexpected` where kube-apiserver answers 400, 422 and 500.
    """
    return _Merge(table).objects(document, patch, "")


class _Merge:
    def __init__(self, table: Table) -> None:
        self.table = table

    def objects(self, document: JSON, patch: JSON, path: str) -> JSON:
        if DIRECTIVE in patch:
            return _whole(patch.pop(DIRECTIVE), patch)
        _retain(document, patch)
        for key in [key for key in patch if key.startswith(_ORDER)]:
            self._ordered_list(document, patch, key, path)
        for key, value in patch.items():
            self._member(document, key, value, path)
        return document

    def _member(self, document: JSON, key: str, value: Any, path: str) -> None:
        deletes = key.startswith(_DELETE_FROM)
        if deletes:
            key = _directed(key, _DELETE_FROM, _BAD_DELETE)
        if value is None:
            document.pop(key, None)
        elif key not in document or type(document[key]) is not type(value):
            if not deletes:
                _put(document, key, _without_nulls(value))
        elif isinstance(value, dict):
            document[key] = self.objects(document[key], value, f"{path}{key}.")
        elif isinstance(value, list):
            document[key] = self._lists(document[key], value, f"{path}{key}", deletes=deletes)
        else:
            document[key] = value

    def _lists(self, old: list[Any], new: list[Any], path: str, *, deletes: bool = False) -> list[Any]:
        rule = self.table.get(path, {})
        if not rule and not deletes:
            return new
        if not old and not new:
            return old
        if not _holds_objects(old, new):
            if deletes:
                unwanted = places(new)
                return [item for item in old if identity(item, "") not in unwanted]
            both, key = deduplicated([*old, *new]), ""
        else:
            key = rule.get("key", "")
            if not key:
                raise Unexpected("cannot merge lists without merge key for struct")
            old, new = _without_special(old, new, key)
            both = self._entries(old, new, key, path)
        return _with_keys(both, new, old, key)

    def _entries(self, old: list[Any], new: list[Any], key: str, path: str) -> list[Any]:
        """Merge entries with a known key into the old ones, and append the others."""
        merged = list(old)
        known = places(old, key)
        for entry in new:
            if key not in entry:
                raise _no_key(entry, key)
            at = known.setdefault(identity(entry, key), len(merged))
            if at < len(merged):
                merged[at] = self.objects(merged[at], entry, f"{path}.")
            else:
                merged.append(entry)
        return merged

    def _ordered_list(self, document: JSON, patch: JSON, directive: str, path: str) -> None:
        """Merge one list and bring it into the order that the patch wants."""
        order = patch.pop(directive)
        key = _directed(directive, _ORDER, _BAD_ORDER)
        old, new = document.get(key), patch.pop(key, None)
        for found in (order, old, new):
            if found is not None and not isinstance(found, list):
                raise Unexpected(f"expected a []interface {{}}, but received a {_go_type(found)}")
        merge_key = self.table.get(f"{path}{key}", {}).get("key", "")
        _check_order(new or [], order, merge_key)
        if new is None:
            merged = old
        elif old is None:
            merged = _without_directives(new)
        else:
            merged = self._lists(list(old), new, f"{path}{key}")
        if merged is not None:
            if not old and not new:
                raise Unexpected("no elements in any of the given slices")
            _holds_objects(old or [], new or [])
            document[key] = _with_keys(merged, order, old or [], merge_key)


def _with_keys(merged: list[Any], wanted: list[Any], old: list[Any], key: str) -> list[Any]:
    """Bring a merged list into order; without their keys, entries cannot be."""
    for entry in merged if key else ():
        if key not in entry:
            raise _no_key(entry, key)
    return in_order(merged, wanted, old, key)


def _whole(directive: Any, patch: JSON) -> JSON:
    if directive == "replace":
        return patch
    if directive == "delete":
        return {}
    raise Unexpected(f"unknown patch type: {plain(directive)} in map: {plain({DIRECTIVE: directive, **patch})}")


def _retain(document: JSON, patch: JSON) -> None:
    """Drop what a patch does not list as kept."""
    if _RETAIN not in patch:
        return
    kept = patch.pop(_RETAIN)
    if not isinstance(kept, list):
        raise Malformed(_BAD_RETAIN)
    for key, value in patch.items():
        if value is not None and not key.startswith((_DELETE_FROM, _ORDER)) and key not in kept:
            raise Malformed(_BAD_RETAIN)
    for key in [key for key in document if key not in kept]:
        del document[key]


def _directed(key: str, prefix: str, complaint: str) -> str:
    head, slash, name = key.partition("/")
    if not slash or head != prefix:
        raise Malformed(complaint)
    return name


def _without_special(old: list[Any], new: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Do what entries with a directive want; return what is left of both lists."""
    plain_entries, gone, replace = [], [], False
    for entry in new:
        if DIRECTIVE not in entry:
            plain_entries.append(entry)
            continue
        match entry[DIRECTIVE]:
            case "delete":
                if key not in entry:
                    raise _no_key(entry, key)
                gone.append(entry)
            case "replace":
                replace = True
            case "merge":
                raise Unexpected("merging lists cannot yet be specified in the patch")
            case other:
                raise Unexpected(f"unknown patch type: {plain(other)} in map: {plain(entry)}")
    unwanted = places(gone, key)
    kept = [item for item in old if key not in item or identity(item, key) not in unwanted]
    return (plain_entries, []) if replace else (kept, plain_entries)


def _holds_objects(*lists: list[Any]) -> bool:
    """Say whether the entries are objects; all of them must be of one type, and none a list."""
    kinds = [type(item) for items in lists for item in items]
    if kinds and kinds[0] is list:
        raise DoesNotApply("lists of lists are not supported")
    if len(set(kinds)) > 1:
        raise Unexpected(f"list element types are not identical: {plain(list(lists))}")
    return bool(kinds) and kinds[0] is dict


def _check_order(new: list[Any], order: list[Any], key: str) -> None:
    """Refuse an order that does not hold the patch's entries in their order."""
    if not new or not order:
        return
    wanted = iter(order)
    for entry in new:
        if key and not isinstance(entry, dict):
            raise Unexpected(f"expected a map[string]interface {{}}, but received a {_go_type(entry)}")
        if key and DIRECTIVE in entry:
            continue
        if not any(_same_entry(entry, item, key) for item in wanted):
            raise Unexpected(f"The order in patch list:\n{plain(new)}\n doesn't match {_ORDER} list:\n{plain(order)}\n")


def _same_entry(one: Any, other: Any, key: str) -> bool:
    if not key:
        return type(one) is type(other) and bool(one == other)
    for entry in (one, other):
        if not isinstance(entry, dict):
            raise Unexpected(f"expected a map[string]interface {{}}, but received a {_go_type(entry)}")
        if key not in entry:
            raise _no_key(entry, key)
    return bool(one[key] == other[key])


def _put(document: JSON, key: str, value: Any) -> None:
    if isinstance(value, dict) and DIRECTIVE in value:
        document.pop(key, None)
    else:
        document[key] = _without_directives(value)


def _without_directives(value: Any) -> Any:
    return _filtered(value, lambda inner: not (isinstance(inner, dict) and DIRECTIVE in inner))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _filtered(value: Any, keep: Callable[[Any], bool]) -> Any:
    if isinstance(value, dict):
        return {key: _filtered(inner, keep) for key, inner in value.items() if keep(inner)}
    return [_filtered(inner, keep) for inner in value if keep(inner)] if isinstance(value, list) else value


def _no_key(entry: JSON, key: str) -> Unexpected:
    return Unexpected(f"map: {plain(entry)} does not contain declared merge key: {key}")


def _go_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "[]interface {}"
        case _:
            return "map[string]interface {}"
