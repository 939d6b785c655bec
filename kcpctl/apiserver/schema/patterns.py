"""Regular expressions of CRDs: RE2 syntax checked with Go's messages, and put into words that jsonschema-rs takes.

The engine below is Rust's, whose matching is RE2's (leftmost, linear time, no look-around), but the syntax that it
reads is ECMA's. Every pattern is read as Go reads it and written anew from simple pieces, so that `.`, `\\s`, `$` and
flags mean what they mean in Go.
"""

import re
from collections.abc import Callable

from jsonschema_rs import Draft7Validator, RegexOptions, ValidationError

from kcpctl.apiserver.schema.characters import PatternError, literal, read_char, read_class, read_perl_class

_REPEAT = re.compile(r"\{(\d+)(,(\d*))?\}")
_GROUP_NAME = re.compile(r"\?P?<(\w+)>", re.ASCII)
_MOST_REPEATS = 1000


def translate(pattern: str) -> str:
    """Return the pattern for jsonschema-rs; raises `PatternError` where Go's regexp would refuse it."""
    return _Reader(pattern).read()


def check(pattern: str) -> None:
    """Raise `PatternError` when the pattern is not one; also names of Unicode classes are looked up."""
    translated = translate(pattern)
    try:
        Draft7Validator({"pattern": translated}, pattern_options=RegexOptions())
    except ValidationError as error:
        unknown = re.search(r"\\[pP](\{[^}]*\}|.)", pattern)
        if unknown is None:
            raise PatternError("expression too large", pattern) from error
        raise PatternError("invalid character class range", unknown[0]) from error


class _Flags:
    """What `(?ims)` switched on; groups keep their own."""

    __slots__ = ("any_case", "dot_all", "lines")

    def __init__(self, any_case: bool = False, lines: bool = False, dot_all: bool = False) -> None:
        self.any_case = any_case
        self.lines = lines
        self.dot_all = dot_all

    def copy(self) -> "_Flags":
        return _Flags(self.any_case, self.lines, self.dot_all)

    def atom(self, text: str) -> str:
        return f"(?i:{text})" if self.any_case else text


class _Reader:
    """One pass over a pattern: `at` is where the next piece begins."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.flags = _Flags()
        self.groups: list[_Flags] = []
        self.names: set[str] = set()
        self.repeatable = False
        self.repeated_from = -1
        self.pieces: dict[str, Callable[[], None]] = {
            "(": self._open,
            ")": self._close,
            "|": self._either,
            "[": self._class,
            "\\": self._escape,
        }

    def read(self) -> str:
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            piece = self.pieces.get(char)
            if piece is not None:
                piece()
            elif char in "*+?" or (char == "{" and _REPEAT.match(self.pattern, self.at)):
                self._repeat(char)
            else:
                self.at += 1
                self._plain(char)
        if self.groups:
            raise PatternError("missing closing )", self.pattern)
        return "".join(self.out)

    def _emit(self, text: str) -> None:
        self.out.append(text)
        self.repeatable = True
        self.repeated_from = -1

    def _plain(self, char: str) -> None:
        if char in "^$":
            self._emit(f"(?m:{char})" if self.flags.lines else f"(?:{char})")
        elif char == ".":
            self._emit(r"(?:\n|[^\n])" if self.flags.dot_all else r"[^\n]")
        else:
            self._emit(self.flags.atom(literal(char)))

    def _either(self) -> None:
        self.at += 1
        self.out.append("|")
        self.repeatable = False

    def _class(self) -> None:
        text, self.at = read_class(self.pattern, self.at)
        self._emit(self.flags.atom(text))

    def _open(self) -> None:
        self.at += 1
        before, inner = self.flags, self.flags.copy()
        if self.pattern.startswith("?", self.at):
            if self.pattern.startswith(("?P<", "?<"), self.at):
                self._name()
            elif self._switch(inner):
                self.flags = inner
                return
        self.groups.append(before)
        self.flags = inner
        self.out.append("(?:")
        self.repeatable = False

    def _name(self) -> None:
        named = _GROUP_NAME.match(self.pattern, self.at)
        if named is None:
            raise PatternError("invalid named capture", self.pattern[self.at - 1 :].partition(">")[0])
        if named[1] in self.names:
            raise PatternError("duplicate capture group name", named[1])
        self.names.add(named[1])
        self.at = named.end()

    def _switch(self, flags: _Flags) -> bool:
        """Read `?flags:` or `?flags)`; True for the latter, which opens no group."""
        start = self.at - 1
        on, seen = True, False
        self.at += 1
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            self.at += 1
            if char == "i":
                flags.any_case = on
            elif char == "m":
                flags.lines = on
            elif char == "s":
                flags.dot_all = on
            elif char == "-" and on:
                on, seen = False, False
                continue
            elif char in ":)" and (on or seen):
                return char == ")"
            elif char != "U":  # which only says how much to take, and does not change whether anything matches
                raise PatternError("invalid or unsupported Perl syntax", self.pattern[start : self.at])
            seen = True
        raise PatternError("missing closing )", self.pattern)

    def _close(self) -> None:
        self.at += 1
        if not self.groups:
            raise PatternError("unexpected )", self.pattern)
        self.flags = self.groups.pop()
        self._emit(")")

    def _repeat(self, char: str) -> None:
        start = self.at
        self.at = self._counted(start) if char == "{" else start + 1
        if self.pattern.startswith("?", self.at):
            self.at += 1
        if self.repeated_from >= 0:
            raise PatternError("invalid nested repetition operator", self.pattern[self.repeated_from : self.at])
        if not self.repeatable:
            raise PatternError("missing argument to repetition operator", self.pattern[start : self.at])
        self.out.append(self.pattern[start : self.at])
        self.repeated_from = start

    def _counted(self, start: int) -> int:
        found = _REPEAT.match(self.pattern, start)
        assert found is not None
        least = int(found[1])
        most = int(found[3]) if found[3] else least
        if max(least, most) > _MOST_REPEATS or least > most:
            raise PatternError("invalid repeat count", found[0])
        return found.end()

    def _escape(self) -> None:
        follower = self.pattern[self.at + 1 : self.at + 2]
        if follower == "Q":
            self._quoted()
        elif follower in ("A", "z", "b", "B"):
            self.at += 2
            self._emit({"A": "(?:^)", "z": "(?:$)"}.get(follower, "\\" + follower))
        else:
            members = read_perl_class(self.pattern, self.at)
            if members is None:
                char, self.at = read_char(self.pattern, self.at)
                self._emit(self.flags.atom(literal(char)))
            else:
                self.at = members[1]
                self._emit(self.flags.atom(f"[{members[0]}]"))

    def _quoted(self) -> None:
        end = self.pattern.find("\\E", self.at)
        for char in self.pattern[self.at + 2 : end if end >= 0 else None]:
            self._emit(self.flags.atom(literal(char)))
        self.at = end + 2 if end >= 0 else len(self.pattern)
