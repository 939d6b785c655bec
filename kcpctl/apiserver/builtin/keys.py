"""The keys of ConfigMaps and Secrets, and how much both may hold."""

import re
from collections.abc import Mapping

from kcpctl.apiserver.field_errors import invalid
from kcpctl.apiserver.served import FieldError

LARGEST = 1024 * 1024
"""Bytes of all values together."""

_KEY = re.compile(r"[-._a-zA-Z0-9]+", re.ASCII)
_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_LONGEST = 253


def key_errors(field: str, values: Mapping[str, str]) -> list[FieldError]:
    """Return what is wrong with the keys of one map."""
    return [invalid(f"{field}[{key}]", key, why) for key in values for why in _faults(key)]


def text_size(values: Mapping[str, str]) -> int:
    """Return how many bytes the texts have."""
    return sum(len(value) if value.isascii() else len(value.encode()) for value in values.values())


def base64_size(values: Mapping[str, str]) -> int:
    """Return how many bytes the texts stand for."""
    return sum(len(value) // 4 * 3 - value[-2:].count("=") for value in values.values())


def _faults(key: str) -> list[str]:
    faults = [] if len(key) <= _LONGEST else [f"must be no more than {_LONGEST} characters"]
    if not _KEY.fullmatch(key):
        faults.append(_RULE)
    if key in (".", ".."):
        faults.append(f"must not be '{key}'")
    elif key.startswith(".."):
        faults.append("must not start with '..'")
    return faults
