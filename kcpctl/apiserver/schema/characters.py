"""The innermost pieces of RE2 patterns: characters, escapes and classes, read from a place on."""

import re

_ESCAPED = {"a": "\x07", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PERL = {"s": r"\t\n\x0c\r ", "S": "\\x00-\\x08\\x0b\\x0e-\\x1f!-\U0010ffff"}
"""`\\s` is narrower in Go than elsewhere; the other letters agree."""
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-\/:-@\[-`\{-~",
    "space": r"\t\n\x0b\x0c\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_SPECIAL = frozenset("\\^$.|?*+()[]{}-/&~")
"""Not all punctuation: Rust has meanings of its own for `\\<` and `\\>`."""
_PERL_CLASS = re.compile(r"\\(?:([dDwWsS])|([pP])(\{[^}]*\}|.))", re.DOTALL)
_POSIX_CLASS = re.compile(r"\[:(\^?)(\w+):\]", re.ASCII)
_ESCAPE = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|([1-7][0-7]{1,2}|0[0-7]{0,2})|(.))", re.DOTALL)


class PatternError(ValueError):
    """The pattern is not RE2 syntax; the message is Go's."""

    def __init__(self, problem: str, part: str) -> None:
        """Name the problem and the part of the pattern that has it."""
        super().__init__(f"error parsing regexp: {problem}: `{part}`")


def literal(char: str) -> str:
    """Write one character so that it means itself, inside a class and outside."""
    if char in _SPECIAL:
        return "\\" + char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x20 or code == 0x7F else char


def read_char(pattern: str, at: int) -> tuple[str, int]:
    """Read one character, maybe escaped; return it and where to go on."""
    if pattern[at] != "\\":
        return pattern[at], at + 1
    escape = _ESCAPE.match(pattern, at)
    if escape is None:
        raise PatternError("trailing backslash at end of expression", "")
    wide, short, octal, letter = escape.groups()
    if letter is None:
        code = int(octal, 8) if octal else int(wide or short, 16)
        if code <= 0x10FFFF:
            return chr(code), escape.end()
    elif letter in _ESCAPED:
        return _ESCAPED[letter], escape.end()
    elif letter.isascii() and not letter.isalnum():
        return letter, escape.end()
    raise PatternError("invalid escape sequence", escape[0])


def read_perl_class(pattern: str, at: int) -> tuple[str, int] | None:
    """Read `\\d`, `\\s`, `\\w`, `\\pX` and their opposites as members of a class; None where something else stands."""
    found = _PERL_CLASS.match(pattern, at)
    if found is None:
        return None
    if found[1]:
        return _PERL.get(found[1], "\\" + found[1]), found.end()
    name, negated = found[3].strip("{}"), found[2] == "P"
    if name.startswith("^"):
        name, negated = name[1:], not negated
    if not re.fullmatch(r"\w+", name, re.ASCII):
        raise PatternError("invalid character class range", found[0])
    return f"\\{'P' if negated else 'p'}{{{name}}}", found.end()


def read_class(pattern: str, at: int) -> tuple[str, int]:
    """Read a class in brackets; return it in words that all engines agree on, and where to go on."""
    start = at
    negated = pattern.startswith("^", at + 1)
    at += 2 if negated else 1
    members: list[str] = []
    while not members or not pattern.startswith("]", at):
        if at >= len(pattern):
            raise PatternError("missing closing ]", pattern[start:])
        member, at = _read_named(pattern, at) or read_perl_class(pattern, at) or _read_range(pattern, at, start)
        members.append(member)
    return f"[{'^' if negated else ''}{''.join(members)}]", at + 1


def _read_named(pattern: str, at: int) -> tuple[str, int] | None:
    named = _POSIX_CLASS.match(pattern, at)
    if named is None:
        return None
    if named[2] not in _POSIX:
        raise PatternError("invalid character class range", named[0])
    members = _POSIX[named[2]]
    return (_all_but(members) if named[1] else members), named.end()


def _read_range(pattern: str, begin: int, start: int) -> tuple[str, int]:
    low, at = read_char(pattern, begin)
    if not pattern.startswith("-", at) or pattern.startswith("]", at + 1):
        return literal(low), at
    if at + 1 >= len(pattern):
        raise PatternError("missing closing ]", pattern[start:])
    high, at = read_char(pattern, at + 1)
    if low > high:
        raise PatternError("invalid character class range", pattern[begin:at])
    return f"{literal(low)}-{literal(high)}", at


def _all_but(members: str) -> str:
    """Return the members of the class of everything else; `members` are ASCII."""
    wanted = re.compile(f"[{members}]")
    others = [literal(chr(code)) for code in range(0x80) if not wanted.match(chr(code))]
    return "".join(others) + "\x80-\U0010ffff"
