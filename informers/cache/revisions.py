"""Comparing resourceVersions, which is allowed within one epoch only."""


def is_older(one: str, other: str) -> bool:
    """Say whether both are decimal numbers, and `one` the lower; numbers may have any length.

    False wherever the two cannot be compared: servers before Kubernetes 1.35 promise nothing about their form.
    """
    if len(one) != len(other):
        return len(one) < len(other) and _is_number(one) and _is_number(other)
    return one < other and _is_number(one) and _is_number(other)


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and text[0] != "0"
