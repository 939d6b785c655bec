"""Durations as Go writes them: `1h15m30.5s`."""

import re

from kcpctl.apiserver.gotext import quote

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]*\.?[0-9]*)([^0-9.]*)", re.ASCII)


def parse(text: str) -> float:
    """Return seconds; raises `ValueError` with the words of Go's time package."""
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return 0.0
    total, at = 0.0, 0
    while at < len(unsigned):
        found = _PART.match(unsigned, at)
        if found is None or not found[1].strip("."):
            raise ValueError(f"time: invalid duration {quote(text)}")
        if not found[2]:
            raise ValueError(f"time: missing unit in duration {quote(text)}")
        if found[2] not in _SECONDS:
            raise ValueError(f"time: unknown unit {quote(found[2])} in duration {quote(text)}")
        total += float(found[1]) * _SECONDS[found[2]]
        at = found.end()
    if not unsigned:
        raise ValueError(f"time: invalid duration {quote(text)}")
    return -total if text.startswith("-") else total
