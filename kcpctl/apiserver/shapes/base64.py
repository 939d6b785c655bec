"""Base64 as Go's standard encoding reads it: newlines do not count, padding does, and errors name the byte."""

import binascii

_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_NEWLINES = frozenset("\r\n")


def canonical(text: str) -> str:
    """Return the text as an encoder would have written it; raises `binascii.Error` with Go's message."""
    return binascii.b2a_base64(decode(text), newline=False).decode()


def decode(text: str) -> bytes:
    """Return the bytes that the text stands for; raises `binascii.Error` with Go's message."""
    stripped = text.replace("\n", "").replace("\r", "")
    # The strict mode of binascii still takes padding after a whole group.
    if len(stripped) % 4 == 0 and not stripped.endswith("==="):
        try:
            return binascii.a2b_base64(stripped, strict_mode=True)
        except ValueError:
            pass
    raise binascii.Error(f"illegal base64 data at input byte {_fault(text)}")


def _fault(text: str) -> int:
    """Return the offset that Go reports: of the wrong byte, or of the group that breaks off."""
    group: list[int] = []
    for at, char in enumerate(text):
        if char in _NEWLINES:
            continue
        if char == "=":
            return _padding_fault(text, at, len(group))
        if char not in _ALPHABET:
            return len(text[:at].encode())
        group = [*group, at] if len(group) < 4 else [at]
    read = len(group) % 4
    return len(text) - read


def _padding_fault(text: str, at: int, read: int) -> int:
    if read % 4 < 2:
        return at
    rest = text[at + 1 :].lstrip("\r\n")
    if read % 4 == 2:
        if not rest:
            return len(text)
        if rest[0] != "=":
            return len(text) - len(rest) - 1
        rest = rest[1:].lstrip("\r\n")
    return len(text) - len(rest)
