"""Spans of time, and numbers of things, as people read them."""

from datetime import datetime


def ago(then: datetime, now: datetime) -> str:
    """Return how long ago a moment was."""
    return seconds((now - then).total_seconds())


def seconds(count: float) -> str:
    """Return a span in its largest unit of which there are two."""
    count = max(0.0, count)
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if count >= 2 * size:
            return f"{int(count // size)}{unit}"
    return f"{int(count)}s"


def counted(number: int, one: str, many: str) -> str:
    """Return a number of things."""
    return f"{number} {one if number == 1 else many}"
