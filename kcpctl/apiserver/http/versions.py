"""The order of API versions inside a group: stable ones first, then beta, then alpha; higher numbers first."""

import re

_SHAPE = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?", re.ASCII)
_STABILITY = {None: 0, "beta": 1, "alpha": 2}


def rank(version: str) -> tuple[int, int, int, str]:
    """Return a sort key that puts the preferred version first; texts of another shape follow, by alphabet."""
    found = _SHAPE.fullmatch(version)
    if found is None:
        return (3, 0, 0, version)
    major, stability, minor = found.groups()
    return (_STABILITY[stability], -int(major), -int(minor or 0), "")
