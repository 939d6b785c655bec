"""Timestamps as Go's time package reads and prints them, with its words for what is wrong."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

SECONDS = "2006-01-02T15:04:05Z07:00"
MICROSECONDS = "2006-01-02T15:04:05.000000Z07:00"

_KEPT = 1024
_LONGEST_KEPT = 32
"""Texts that are remembered, since the same moment stands in many objects, and in each again and again."""

_ZERO = datetime(1, 1, 1, tzinfo=UTC)
_PIECES = ("2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05")
_RANGES = {
    "2006": ("year", 1, 9999),
    "01": ("month", 1, 12),
    "02": ("day", 0, 99),  # Go looks at the day last, when it knows the month
    "15": ("hour", 0, 23),
    "04": ("minute", 0, 59),
    "05": ("second", 0, 59),
}
_FRACTION = re.compile(r"[.,]([0-9]+)", re.ASCII)
_ZONE = re.compile(r"Z|([+-])([0-9]{2}):([0-9]{2})", re.ASCII)
_USUAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?Z", re.ASCII)


class TimeError(ValueError):
    """A text that is no timestamp; the message is Go's."""


def normal_seconds(text: str) -> str | None:
    """Return the time as a Time prints it, or None for Go's zero time; raises `TimeError`."""
    return _recent(text) if len(text) <= _LONGEST_KEPT else _in_seconds(text)


def _in_seconds(text: str) -> str | None:
    moment = _read(text, SECONDS)
    return None if moment == _ZERO else f"{moment:%Y-%m-%dT%H:%M:%SZ}".zfill(20)


_recent = lru_cache(_KEPT)(_in_seconds)


def normal_microseconds(text: str) -> str | None:
    """Return the time as a MicroTime prints it, or None for Go's zero time; raises `TimeError`."""
    moment = _read(text, MICROSECONDS)
    return None if moment == _ZERO else f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}".zfill(27)


def _read(text: str, layout: str) -> datetime:
    usual = _USUAL.fullmatch(text)
    if usual and (usual.group(1) or layout == SECONDS):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass  # the slow way says what is wrong
    return _follow(text, layout)


def _follow(text: str, layout: str) -> datetime:
    """Follow the layout piece by piece, as Go does: the first piece that does not fit is named."""
    rest, numbers = text, {}
    for piece in _PIECES:
        if piece in "-T:":
            if not rest.startswith(piece):
                raise _unreadable(text, layout, rest, piece)
            rest = rest[1:]
        else:
            number, rest = _number(text, layout, piece, rest)
            numbers[piece] = number
    fraction, rest = _fraction(text, layout, rest)
    away, rest = _zone(text, layout, rest)
    if rest:
        raise TimeError(f"parsing time {_quoted(text)}: extra text: {_quoted(rest)}")
    try:
        year, month, day, hour, minute, second = numbers.values()
        return datetime(year, month, day, hour, minute, second, fraction, tzinfo=UTC) - away
    except (ValueError, OverflowError):
        raise TimeError(f"parsing time {_quoted(text)}: day out of range") from None


def _number(text: str, layout: str, piece: str, rest: str) -> tuple[int, str]:
    digits = rest[: len(piece)]
    if piece == "15" and not digits[1:].isdigit():
        digits = digits[:1]  # an hour may have one digit
    if not (digits.isascii() and digits.isdigit()) or (len(digits) < len(piece) and piece != "15"):
        raise _unreadable(text, layout, rest, piece)
    name, low, high = _RANGES[piece]
    if not low <= int(digits) <= high:
        raise TimeError(f"parsing time {_quoted(text)}: {name} out of range")
    return int(digits), rest[len(digits) :]


def _fraction(text: str, layout: str, rest: str) -> tuple[int, str]:
    """Read microseconds: a layout with a fraction wants exactly six digits, one without takes any number of them."""
    found = _FRACTION.match(rest)
    if layout == MICROSECONDS:
        if found is None or found.end() < 7:
            raise _unreadable(text, layout, rest, ".000000")
        return int(rest[1:7]), rest[7:]
    return (int(found.group(1)[:6].ljust(6, "0")), rest[found.end() :]) if found else (0, rest)


def _zone(text: str, layout: str, rest: str) -> tuple[timedelta, str]:
    found = _ZONE.match(rest)
    if found is None:
        raise _unreadable(text, layout, rest, "Z07:00")
    if found.group() == "Z":
        return timedelta(), rest[1:]
    hours, minutes = int(found.group(2)), int(found.group(3))
    if hours > 24 or minutes > 59:
        part = "hour" if hours > 24 else "minute"
        raise TimeError(f"parsing time {_quoted(text)}: time zone offset {part} out of range")
    away = timedelta(hours=hours, minutes=minutes)
    return away if found.group(1) == "+" else -away, rest[found.end() :]


def _unreadable(text: str, layout: str, rest: str, piece: str) -> TimeError:
    return TimeError(f'parsing time {_quoted(text)} as "{layout}": cannot parse {_quoted(rest)} as "{piece}"')


def _quoted(text: str) -> str:
    """Quote as Go's time package does: byte by byte, all that is not printable ASCII in hexadecimal."""
    shown = (f"\\x{b:02x}" if b < 32 or b > 126 else "\\" * (b in b'"\\') + chr(b) for b in text.encode())
    return f'"{"".join(shown)}"'
