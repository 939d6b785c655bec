"""When two recorded answers are the same: what differs by nature is masked, and lists without an order are sorted."""

import json
import re
from collections.abc import Iterator
from typing import Any

_NAMES_OF_MASKED = """
uid resourceVersion creationTimestamp deletionTimestamp time continue lastTransitionTime selfLink hash
storageVersionHash lastUpdateTime firstTimestamp lastTimestamp eventTime token caBundle buildDate gitCommit
gitVersion goVersion platform compiler minor major gitTreeState serverAddress remainingItemCount
expirationTimestamp renewTime acquireTime
"""
_MASKED = frozenset(_NAMES_OF_MASKED.split())
_UNORDERED = frozenset(("causes", "managedFields", "rules", "resourceRules", "nonResourceRules", "ownerReferences"))
_BY_NATURE = [
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"(127\.0\.0\.1|192\.0\.2\.\d+|localhost):\d+"), "<host>"),
    (re.compile(r"\bgen-[a-z0-9]{5}\b"), "gen-<random>"),
    (re.compile(r"^\d+(ms|s|m|h|d)(\d+(ms|s|m|h))?$"), "<age>"),
    (re.compile(r"(too old resource version: )\d+ \(\d+\)"), r"\1<rv>"),
    (re.compile(r"(Too large resource version: )\d+, current: \d+"), r"\1<rv>"),
    (re.compile(r"(the ResourceVersion in record \()\d+"), r"\1<rv>"),
    (re.compile(r"(resourceVersion|resource version)([^0-9]{1,6})\d+"), r"\1\2<rv>"),
    (re.compile(r"(?m)^  managedFields:\n(?:  [- ] .*\n)+"), ""),
    (re.compile(r',\\*"managedFields\\*":\[[^\]]*\]'), ""),
    (re.compile(r"eyJ[\w.-]{20,}"), "<jwt>"),
]


def differences(want: dict[str, Any], got: dict[str, Any], *, leave_out: frozenset[str] = frozenset()) -> list[str]:
    """Return where two answers (the `resp` of a pair) differ, each as a path and the two values.

    Fields of the names in `leave_out` are not looked at, wherever they are.
    """
    return list(_compare(_view(_without(want, leave_out)), _view(_without(got, leave_out)), ""))


def _without(value: Any, fields: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(inner, fields) for name, inner in value.items() if name not in fields}
    return [_without(item, fields) for item in value] if isinstance(value, list) else value


def _view(answer: dict[str, Any]) -> dict[str, Any]:
    headers = answer.get("headers") or {}
    seen = {
        "status": answer.get("status"),
        "type": (headers.get("content-type") or "").replace(" ", ""),
        "retry": headers.get("retry-after"),
    }
    if "events" in answer:
        events = [{name: value for name, value in event.items() if name != "t"} for event in answer["events"]]
        return seen | {"events": [_masked(event) for event in events]}
    warnings = sorted(_text(warning) for warning in answer.get("warnings") or [])
    return seen | {"body": _masked(answer.get("body")), "warnings": warnings}


def _masked(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {_text(name): _field(name, inner) for name, inner in value.items()}
    if isinstance(value, list):
        items = [_masked(item) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True)) if key in _UNORDERED else items
    return _text(value) if isinstance(value, str) else value


def _field(name: str, value: Any) -> Any:
    if name in _MASKED and not isinstance(value, (dict, list)):
        return value if value in ("", None, "0") else "<masked>"
    return _masked(value, name)


def _text(text: str) -> str:
    for pattern, replacement in _BY_NATURE:
        text = pattern.sub(replacement, text)
    return text


def _compare(want: Any, got: Any, path: str) -> Iterator[str]:
    if isinstance(want, dict) and isinstance(got, dict):
        for name in sorted(want.keys() | got.keys()):
            if name not in got:
                yield f"{path}.{name}: missing {_shown(want[name])}"
            elif name not in want:
                yield f"{path}.{name}: unexpected {_shown(got[name])}"
            else:
                yield from _compare(want[name], got[name], f"{path}.{name}")
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f"{path}: expected {len(want)} items, found {len(got)}"
        for index, (one, other) in enumerate(zip(want, got, strict=False)):
            yield from _compare(one, other, f"{path}[{index}]")
    elif type(want) is not type(got) or want != got:
        yield f"{path}: expected {_shown(want)}, found {_shown(got)}"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else text[:100] + "…"
