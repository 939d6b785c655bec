"""The string formats that custom resources are checked against, as kube-openapi understands them.

Other formats are ignored, as are int32, int64, float and double, which real servers do not enforce either.
"""

import base64
import re
from collections.abc import Callable
from datetime import date
from email.utils import parseaddr
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network

from informers.api.names import label_errors, subdomain_errors

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(.\d+)?(z|[+-]\d\d:\d\d)", re.ASCII)
_GO_DURATION = re.compile(r"[-+]?(0|((\d++\.?\d*+|\.\d++)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_WORDY_DURATION = re.compile(r"(?<!\d)(\d++)\s*+([A-Za-zµ]+)", re.ASCII)
_UNITS = frozenset(("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"))
_UNIT_STEMS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_HOST_LABEL = re.compile(r"[^\W_]([^\W_]|-){0,61}[^\W_]|[^\W_]")
_MAC = re.compile(
    r"([0-9A-Fa-f]{2})(?:(:[0-9A-Fa-f]{2}){5,7}|(-[0-9A-Fa-f]{2}){5,7}|(:[0-9A-Fa-f]{2}){19}|(-[0-9A-Fa-f]{2}){19})"
    r"|[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4}){2,3}|[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4}){9}"
)
_LONGEST_EMAIL = 320
"""64 letters, @ and 255 more are the longest address of RFC 5321; the parser takes its time, and stack, for more."""
_KEPT = 1024
_LONGEST_KEPT = 32
"""Timestamps that are remembered: the same moment stands in many objects, and in each again and again."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_AUTHORITY = re.compile(r"(?:[^@]*@)?(\[[^\]]*\]|[^:\[\]\s<>\"\\^`{|}]*)(:\d*)?")


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return text.startswith("0000-")  # Go knows a year 0
    return True


def _is_datetime(text: str) -> bool:
    return _recent(text) if len(text) <= _LONGEST_KEPT else _is_moment(text)


def _is_moment(text: str) -> bool:
    day, _, rest = text.lower().partition("t")
    found = _TIME.fullmatch(rest)
    return found is not None and _is_date(day) and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


_recent = lru_cache(_KEPT)(_is_moment)


def _is_duration(text: str) -> bool:
    if _GO_DURATION.fullmatch(text):
        return True
    units = (unit.lower() for _, unit in _WORDY_DURATION.findall(text))
    return any(unit in _UNITS or unit.startswith(_UNIT_STEMS) for unit in units)


def _is_email(text: str) -> bool:
    if len(text) > _LONGEST_EMAIL:
        return False
    local, at, domain = parseaddr(text)[1].rpartition("@")
    return bool(at and local and domain) and " " not in domain and "@" not in local


def _is_hostname(text: str) -> bool:
    labels = text.removesuffix(".").split(".")
    return len(text) <= 255 and all(_HOST_LABEL.fullmatch(label) for label in labels)


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _is_ipv6(text: str) -> bool:
    if "%" in text:
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    if not re.fullmatch(r"[^/%]+/\d{1,3}", text, re.ASCII):
        return False
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_uri(text: str) -> bool:
    """Say whether Go's ParseRequestURI takes it: an absolute URI (also `host:port`, read as a scheme) or a path."""
    if not text or any(char < " " or char == "\x7f" for char in text):
        return False
    scheme = _SCHEME.match(text)
    rest = (text[scheme.end() :] if scheme else text).partition("?")[0]
    if not rest.startswith("/"):
        return scheme is not None
    authority = ""
    if rest.startswith("//") and scheme is not None:
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
    return not _BAD_ESCAPE.search(rest) and _is_authority(authority)


def _is_authority(text: str) -> bool:
    found = _AUTHORITY.fullmatch(text)
    if found is None or _BAD_ESCAPE.search(text.replace("%25", "")):
        return False
    return not found[1].startswith("[") or _is_ipv6(found[1][1:-1].partition("%25")[0])


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:  # also for letters beyond ASCII
        return False
    return True


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII):
        return False
    return sum((10 - i) * (10 if c == "X" else int(c)) for i, c in enumerate(digits)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    return bool(re.fullmatch(r"\d{13}", digits, re.ASCII)) and _weighted(digits) % 10 == 0


def _weighted(digits: str) -> int:
    return sum(int(c) * (3 if i % 2 else 1) for i, c in enumerate(digits))


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not re.fullmatch(r"\d{13,19}", digits):
        return False
    doubled = (int(c) * (2 if i % 2 else 1) for i, c in enumerate(reversed(digits)))
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


def _is_rgb_color(text: str) -> bool:
    found = re.fullmatch(r"rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)", text, re.ASCII)
    return found is not None and all(int(part) <= 255 for part in found.groups())


def _uuid(third: str = "[0-9a-fA-F]", fourth: str = "[0-9a-fA-F]") -> Callable[[str], bool]:
    digits = "[0-9a-fA-F]"
    return _matches(rf"{digits}{{8}}-?{digits}{{4}}-?{third}{digits}{{3}}-?{fourth}{digits}{{3}}-?{digits}{{12}}")


_CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches("[0-9a-fA-F]{24}"),
    "byte": _is_base64,
    "cidr": _is_cidr,
    "creditcard": _is_credit_card,
    "date": _is_date,
    "datetime": _is_datetime,
    "duration": _is_duration,
    "email": _is_email,
    "hexcolor": _matches("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": lambda text: not subdomain_errors(text),
    "k8sshortname": lambda text: not label_errors(text),
    "mac": lambda text: _MAC.fullmatch(text) is not None,
    "password": lambda text: True,
    "rgbcolor": _is_rgb_color,
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _is_uri,
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89abAB]"),
    "uuid5": _uuid("5", "[89abAB]"),
}


_PREFIX = "k8s:"
"""Keeps these apart from formats that jsonschema-rs knows by the same names and reads otherwise."""
_UNCHECKED = frozenset(("binary", "double", "float", "int32", "int64"))

CHECKERS: dict[str, Callable[[str], bool]] = {_PREFIX + name: check for name, check in _CHECKS.items()}
"""What to give to jsonschema-rs; the keys are what `enforced` returns."""


def enforced(name: str) -> str:
    """Return the key in `CHECKERS` of a format's name (dashes do not count), or "" for formats that nobody checks."""
    key = name.replace("-", "")
    return _PREFIX + key if key in _CHECKS else ""


def recognized(name: str) -> bool:
    """Say whether the format means anything; a CRD with another one is accepted with a warning."""
    return bool(enforced(name)) or name in _UNCHECKED
