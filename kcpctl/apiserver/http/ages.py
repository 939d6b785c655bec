"""How old something is, in the short form of kubectl's tables."""

from datetime import datetime

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 24 * 3600, 365 * 24 * 3600


def age(timestamp: object, now: datetime) -> str:
    """Return the age of an RFC 3339 timestamp; `<unknown>` where it is empty, `<invalid>` where it is none."""
    if not timestamp:
        return "<unknown>"
    try:
        since = datetime.fromisoformat(str(timestamp))
    except ValueError:
        return "<invalid>"
    if since.tzinfo is None:
        return "<invalid>"
    return human((now - since).total_seconds())


def human(duration: float) -> str:
    """Return seconds in one or two units, coarser the longer it is; up to two seconds of the future are now."""
    seconds = int(duration)
    if seconds < -1:
        return "<invalid>"
    if seconds < 2 * _MINUTE:
        return f"{max(seconds, 0)}s"
    if seconds < 10 * _MINUTE:
        return _pair(seconds, _MINUTE, "m", 1, "s")
    if seconds < 3 * _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < 8 * _HOUR:
        return _pair(seconds, _HOUR, "h", _MINUTE, "m")
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR}h"
    if seconds < 8 * _DAY:
        return _pair(seconds, _DAY, "d", _HOUR, "h")
    if seconds < 2 * _YEAR:
        return f"{seconds // _DAY}d"
    if seconds < 8 * _YEAR:
        return _pair(seconds, _YEAR, "y", _DAY, "d")
    return f"{seconds // _YEAR}y"


def _pair(seconds: int, big: int, big_sign: str, small: int, small_sign: str) -> str:
    whole, rest = divmod(seconds, big)
    return f"{whole}{big_sign}" + (f"{rest // small}{small_sign}" if rest >= small else "")
