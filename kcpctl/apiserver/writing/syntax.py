"""Say what is wrong with a JSON text in the words of Go's encoding/json; only ever asked when something is."""

import re

_SPACE = re.compile(rb"[ \t\r\n]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(rb"[0-9]*")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_LITERALS = {b"t": b"true", b"f": b"false", b"n": b"null"}
_END = "unexpected end of JSON input"
_DEEPEST = 10_000


class _Fault(Exception):
    """The first thing that is wrong."""


def fault(text: bytes) -> str:
    """Return Go's message about the text; `""` if it is JSON after all."""
    try:
        _Scan(text).document()
    except _Fault as found:
        return str(found)
    return ""


class _Scan:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0
        self.just_opened = False

    def document(self) -> None:
        """Walk through the text without recursion: `open_` holds the brackets that are open."""
        open_: list[bytes] = []
        self._value(open_, "looking for beginning of value")
        while open_:
            if self.just_opened:
                self.just_opened = False
                self._first(open_)
            else:
                self._next(open_)
        self._space()
        if self.at < len(self.text):
            raise self._wrong("after top-level value")

    def _value(self, open_: list[bytes], context: str) -> None:
        self._space()
        char = self._peek()
        if char in (b"{", b"["):
            self.at += 1
            open_.append(char)
            if len(open_) > _DEEPEST:
                raise _Fault("exceeded max depth")
            self.just_opened = True
        elif char == b'"':
            self._string()
        elif char in _LITERALS:
            self._literal(_LITERALS[char])
        elif char == b"-" or char.isdigit():
            self._number(char)
        else:
            raise self._wrong(context)

    def _first(self, open_: list[bytes]) -> None:
        """Read what follows an opening bracket: its end, or its first element."""
        self._space()
        if self._peek() == (b"}" if open_[-1] == b"{" else b"]"):
            self.at += 1
            open_.pop()
        elif open_[-1] == b"{":
            self._member(open_)
        else:
            self._value(open_, "looking for beginning of value")

    def _next(self, open_: list[bytes]) -> None:
        """Read what follows an element: the bracket's end, or a comma and another element."""
        self._space()
        is_object = open_[-1] == b"{"
        char = self._peek()
        if char == (b"}" if is_object else b"]"):
            self.at += 1
            open_.pop()
        elif char != b",":
            raise self._wrong("after object key:value pair" if is_object else "after array element")
        else:
            self.at += 1
            if is_object:
                self._member(open_)
            else:
                self._value(open_, "looking for beginning of value")

    def _member(self, open_: list[bytes]) -> None:
        self._space()
        if self._peek() != b'"':
            raise self._wrong("looking for beginning of object key string")
        self._string()
        self._space()
        if self._peek() != b":":
            raise self._wrong("after object key")
        self.at += 1
        self._value(open_, "looking for beginning of value")

    def _string(self) -> None:
        self.at += 1
        while True:
            self._skip(_PLAIN)
            char = self._peek()
            if char not in (b'"', b"\\"):
                raise self._wrong("in string literal")
            self.at += 1
            if char == b'"':
                return
            self._escape()

    def _escape(self) -> None:
        if self._here() not in b'"\\/bfnrtu':
            raise self._wrong("in string escape code")
        self.at += 1
        if self.text[self.at - 1] != ord("u"):
            return
        for _ in range(4):
            if self._here()[0] not in _HEX:
                raise self._wrong("in \\u hexadecimal character escape")
            self.at += 1

    def _literal(self, word: bytes) -> None:
        for letter in word:
            if self._here()[0] != letter:
                raise self._wrong(f"in literal {word.decode()} (expecting '{chr(letter)}')")
            self.at += 1

    def _number(self, char: bytes) -> None:
        if char == b"-":
            self.at += 1
            if not (char := self._here()).isdigit():
                raise self._wrong("in numeric literal")
        self.at += 1
        if char != b"0":
            self._skip(_DIGITS)
        if self._here() == b".":
            self.at += 1
            self._digits("after decimal point in numeric literal")
        if self._here() in (b"e", b"E"):
            self.at += 1
            if self._here() in (b"+", b"-"):
                self.at += 1
            self._digits("in exponent of numeric literal")

    def _digits(self, context: str) -> None:
        if not self._here().isdigit():
            raise self._wrong(context)
        self._skip(_DIGITS)

    def _space(self) -> None:
        self._skip(_SPACE)

    def _skip(self, pattern: re.Pattern[bytes]) -> None:
        found = pattern.match(self.text, self.at)
        assert found is not None  # all of them match nothing, too
        self.at = found.end()

    def _peek(self) -> bytes:
        if self.at >= len(self.text):
            raise _Fault(_END)
        return self.text[self.at : self.at + 1]

    def _here(self) -> bytes:
        """Return the byte inside a word or number; Go thinks of a space behind the end."""
        return self.text[self.at : self.at + 1] or b" "

    def _wrong(self, context: str) -> _Fault:
        return _Fault(f"invalid character {_quoted(self._here()[0])} {context}")


def _quoted(byte: int) -> str:
    char = chr(byte)
    if char in "'\\":
        return f"'\\{char}'"
    if char.isprintable():
        return f"'{char}'"
    named = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r"}.get(byte)
    if named:
        return f"'\\{named}'"
    return f"'\\x{byte:02x}'" if byte < 0x80 else f"'\\u{byte:04x}'"
