"""Which texts Kubernetes accepts as names, label keys and label values, and how it says no."""

import re
from functools import lru_cache

_KEPT = 4096
_LONGEST_KEPT = 128
"""Keys that are remembered: the same few stand in all objects."""

_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)

_QUALIFIED_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_DNS_1035_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def label_errors(text: str) -> list[str]:
    """Return what keeps the text from being an RFC 1123 label (namespace names, service names)."""
    errors = [] if len(text) <= 63 else ["must be no more than 63 characters"]
    if not _LABEL.fullmatch(text):
        errors.append("must not contain dots" if _SUBDOMAIN.fullmatch(text) else _LABEL_RULE)
    return errors


def dns1035_errors(text: str) -> list[str]:
    """Return what keeps the text from being an RFC 1035 label (names of custom kinds and of their versions)."""
    errors = [] if len(text) <= 63 else ["must be no more than 63 characters"]
    if not _DNS_1035.fullmatch(text):
        errors.append(_DNS_1035_RULE)
    return errors


def subdomain_errors(text: str) -> list[str]:
    """Return what keeps the text from being an RFC 1123 subdomain (most object names)."""
    errors = [] if len(text) <= 253 else ["must be no more than 253 characters"]
    if not _SUBDOMAIN.fullmatch(text):
        errors.append(_SUBDOMAIN_RULE)
    return errors


def qualified_name_errors(text: str) -> list[str]:
    """Return what keeps the text from being a label or annotation key: `[prefix/]name`."""
    return [] if len(text) <= _LONGEST_KEPT and _is_qualified(text) else _errors_of_qualified(text)


@lru_cache(_KEPT)
def _is_qualified(text: str) -> bool:
    return not _errors_of_qualified(text)


def _errors_of_qualified(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    errors = []
    if text.count("/") > 1:
        return [
            "a qualified name " + _QUALIFIED_RULE + " with an optional DNS subdomain prefix and '/' (e.g. "
            "'example.com/MyName')"
        ]
    if slash and not prefix:
        errors.append("prefix part must be non-empty")
    elif slash:
        errors += [f"prefix part {error}" for error in subdomain_errors(prefix)]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name) > 63:
        errors.append("name part must be no more than 63 characters")
    if not _QUALIFIED.fullmatch(name):
        errors.append("name part " + _QUALIFIED_RULE)
    return errors


def label_value_errors(text: str) -> list[str]:
    """Return what keeps the text from being a label's value."""
    errors = [] if len(text) <= 63 else ["must be no more than 63 characters"]
    if not _VALUE.fullmatch(text):
        errors.append(_VALUE_RULE)
    return errors
