"""Virtual workspace URLs, composed to the byte as kcp composes them.

kcp parses a shard's URL with Go's net/url, joins the path and prints it again; consumers compare the result as text.
So this module parses, joins and prints by Go's rules, odd ones included: `localhost:6443` has the scheme `localhost`
and an opaque rest, and keeps no path.
"""

import ipaddress
import posixpath
import re
from functools import lru_cache
from typing import NamedTuple

SERVICES = "/services/apiexport/"
"""What stands before the cluster in each URL."""

_PLAIN = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT = re.compile(r"(:[0-9]*)?", re.ASCII)
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_ZONE_OR_HIGH = re.compile(rb"%(25|[89A-Fa-f][0-9A-Fa-f])")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_IN_PATH = _UNRESERVED | frozenset(b"$&+,/:;=@")
_IN_USER = _UNRESERVED | frozenset(b"$&+,;=")
_IN_FRAGMENT = _UNRESERVED | frozenset(b"$&+,/:;=?@!()*")
_IN_HOST = _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\"")
_RAW_FRAGMENT = re.compile(r"[A-Za-z0-9\-_.~$&+,/:;=?@!()*'\[\]%]*", re.ASCII)


class UnusableUrl(ValueError):
    """A URL that Go's net/url refuses, or that is empty; the message says why."""


class _Url(NamedTuple):
    scheme: str
    opaque: str
    user: str | None
    host: str
    has_authority: bool
    path: bytes
    query: str | None
    fragment: str | None


def virtual_workspace_url(shard_url: str, cluster: str, export: str) -> str:
    """Return the URL of an export's virtual workspace on a shard; `cluster` is the export's cluster name.

    Raises `UnusableUrl`.
    """
    if not shard_url:
        raise UnusableUrl("the URL is empty")
    url = _parse(shard_url)
    parts = [url.path, b"/services", b"apiexport", cluster.encode(), export.encode()]
    return _print(url, _clean(b"/".join(part for part in parts if part)))


def is_usable(shard_url: str) -> bool:
    """Say whether URLs can be composed from a shard's URL."""
    return isinstance(frame_of(shard_url), Frame)


class Frame(NamedTuple):
    """What stands around an export's path in the URLs that are published for a shard."""

    before: str
    behind: str
    has_path: bool = True
    """Whether the path is in it at all: URLs with an opaque part have none."""

    def around(self, path: str) -> str:
        """Return the URL of the export with this path."""
        return f"{self.before}{path}{self.behind}" if self.has_path else self.before


@lru_cache(maxsize=8192)
def frame_of(shard_url: str) -> Frame | UnusableUrl:
    """Return a shard URL's frame, or why it cannot be used: parsed once, however many URLs are composed with it."""
    sample = "sample"
    while sample in shard_url:
        sample += "0"
    try:
        whole = virtual_workspace_url(shard_url, sample, sample)
    except UnusableUrl as error:
        return error
    before, found, behind = whole.partition(f"{SERVICES}{sample}/{sample}")
    return Frame(before, behind, bool(found))


def path_of(cluster: str, export: str) -> str:
    """Return what stands in an export's URLs between the two parts of each shard's frame."""
    if _PLAIN.fullmatch(cluster) and _PLAIN.fullmatch(export):
        return f"{SERVICES}{cluster}/{export}"
    return virtual_workspace_url("/", cluster, export)


def is_url_for(url: str, cluster: str, export: str) -> bool:
    """Say whether the URL is one of that export's virtual workspaces, on whichever shard."""
    path = url.partition("#")[0].partition("?")[0]
    return path.endswith(virtual_workspace_url("/", cluster, export))


def _parse(text: str) -> _Url:
    if _CONTROL.search(text):
        raise UnusableUrl("it holds a control character")
    rest, _, fragment = text.partition("#")
    fragment_text = _fragment(fragment) if fragment else None
    scheme, rest = _split_scheme(rest)
    query: str | None = None
    if "?" in rest:
        rest, _, query = rest.partition("?")
    if scheme and not rest.startswith("/"):
        return _Url(scheme, rest, None, "", not rest, b"", query, fragment_text)
    if not scheme and not rest.startswith("/") and ":" in rest.partition("/")[0]:
        raise UnusableUrl("the first path segment holds a colon and there is no scheme")
    user, host, authority = None, "", False
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority = True
        place, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _authority(place, scheme)
    elif not (scheme and rest.startswith("/")):
        authority = True
    return _Url(scheme, "", user, host, authority, _unescape(rest, "the path"), query, fragment_text)


def _split_scheme(text: str) -> tuple[str, str]:
    if text.startswith(":"):
        raise UnusableUrl("the scheme is missing")
    found = _SCHEME.match(text)
    return (found.group(1).lower(), text[found.end() :]) if found else ("", text)


def _authority(place: str, scheme: str) -> tuple[str | None, str]:
    info, at, host = place.rpartition("@")
    if not at:
        return None, _host(host, scheme)
    if not _USERINFO.fullmatch(info):
        raise UnusableUrl("the user part holds a character that it may not")
    name, colon, password = info.partition(":")
    user = _escape(_unescape(name, "the user part"), _IN_USER)
    if colon:
        user += ":" + _escape(_unescape(password, "the user part"), _IN_USER)
    return user, _host(host, scheme)


def _host(host: str, scheme: str) -> str:
    """Return the host as Go prints it again; raises where Go refuses it."""
    if host.startswith("["):
        literal, bracket, port = host.rpartition("]")
        if not bracket:
            raise UnusableUrl("the host's bracket is not closed")
        _check_port(port)
        name, percent, zone = literal[1:].partition("%25")
        _check_ipv6(name)
        if percent and not zone:
            raise UnusableUrl("the host's zone is empty")
        decoded = _unescape(zone, "the host's zone") if percent else b""
        return f"[{name}{'%25' + _escape(decoded, _UNRESERVED) if percent else ''}]{port}"
    if "[" in host:
        raise UnusableUrl("the host holds a bracket and is no IPv6 literal")
    name, colon, port = host.partition(":") if scheme in ("http", "https") else _last_colon(host)
    _check_port(colon + port)
    for index in re.finditer("%", name):
        if not _ZONE_OR_HIGH.match(name[index.start() :].encode()):
            raise UnusableUrl("the host holds an escape that it may not")
    raw = name.encode()
    if any(byte < 0x80 and byte not in _IN_HOST and byte != ord("%") for byte in raw):
        raise UnusableUrl("the host holds a character that it may not")
    return _escape(_unescape(name, "the host"), _IN_HOST) + colon + port


def _last_colon(host: str) -> tuple[str, str, str]:
    name, colon, port = host.rpartition(":")
    return (name, colon, port) if colon else (port, "", "")


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise UnusableUrl(f"the port {port.removeprefix(':')!r} is not a number")


def _check_ipv6(name: str) -> None:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        raise UnusableUrl(f"the host {name!r} is no IPv6 literal") from None
    if address.version != 6:
        raise UnusableUrl(f"the host {name!r} is no IPv6 literal")


def _fragment(text: str) -> str:
    decoded = _unescape(text, "the fragment")
    return text if _RAW_FRAGMENT.fullmatch(text) else _escape(decoded, _IN_FRAGMENT)


def _unescape(text: str, where: str) -> bytes:
    raw, out, at = text.encode("utf-8", "surrogateescape"), bytearray(), 0
    while at < len(raw):
        if raw[at] != 0x25:
            out.append(raw[at])
            at += 1
            continue
        digits = raw[at + 1 : at + 3]
        if len(digits) < 2 or not all(c in b"0123456789abcdefABCDEF" for c in digits):
            raise UnusableUrl(f"{where} holds the invalid escape {raw[at : at + 3].decode('utf-8', 'replace')!r}")
        out.append(int(digits, 16))
        at += 3
    return bytes(out)


def _escape(raw: bytes, plain: frozenset[int]) -> str:
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in raw)


def _clean(path: bytes) -> bytes:
    """Return the shortest equal path: no empty segments, `.` or `..`."""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith(b"//") else cleaned


def _print(url: _Url, path: bytes) -> str:
    text = f"{url.scheme}:" if url.scheme else ""
    if url.opaque:
        text += url.opaque
    else:
        if (url.scheme or url.host or url.user is not None) and (url.has_authority or url.host or url.user is not None):
            text += "//" + (f"{url.user}@" if url.user is not None else "") + url.host
        shown = _escape(path, _IN_PATH)
        if shown and not shown.startswith("/") and url.host:
            text += "/"
        if not text and ":" in shown.partition("/")[0]:
            text += "./"
        text += shown
    if url.query is not None:
        text += f"?{url.query}"
    return text + (f"#{url.fragment}" if url.fragment else "")
