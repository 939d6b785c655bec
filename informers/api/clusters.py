"""Logical cluster names and workspace paths, by kcp's rules."""

import hashlib
import re
import secrets

WILDCARD = "*"
"""All logical clusters at once; only lists and watches may ask for it."""

SEPARATOR = ":"

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,61}[a-z0-9]", re.ASCII)
_WORD = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PATH = re.compile(rf"{_WORD}(:{_WORD})*", re.ASCII)
_SYSTEM = "system:"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def is_name(text: str) -> bool:
    """Say whether the text is a logical cluster's name: one word of 2 to 63 characters, or `system:…`."""
    return _NAME.fullmatch(text) is not None or (text.startswith(_SYSTEM) and is_path(text))


def is_path(text: str) -> bool:
    """Say whether the text is a workspace path: words joined by colons. A name is a path too; `*` is not."""
    return _PATH.fullmatch(text) is not None


def join(parent: str, child: str) -> str:
    """Return the path of `child` under `parent`; under an empty path the child alone."""
    return f"{parent}{SEPARATOR}{child}" if parent and child else parent or child


def split(path: str) -> tuple[str, str]:
    """Return (parent path, last name); the parent is "" for a single name, and `system:…` is one name."""
    if path.startswith(_SYSTEM):
        return "", path
    parent, _, name = path.rpartition(SEPARATOR)
    return parent, name


def has_prefix(path: str, prefix: str) -> bool:
    """Say whether `prefix` is the path or one of its ancestors."""
    return path == prefix or path.startswith(prefix + SEPARATOR)


def new_name() -> str:
    """Return a fresh logical cluster name: 16 characters, random."""
    return _base36(hashlib.sha224(secrets.token_bytes(32)).digest())[:16]


def shard_hash(shard: str) -> str:
    """Return the hash by which workspaces name the shard they are on."""
    return _base36(hashlib.sha224(shard.encode()).digest())[:8]


def _base36(digest: bytes) -> str:
    number, text = int.from_bytes(digest, "big"), ""
    while number:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text or "0"
