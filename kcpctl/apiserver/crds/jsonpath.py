"""kubectl's JSONPath, as printer columns use it: fields, wildcards, indexes, slices, unions, filters, descent."""

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

Step: TypeAlias = Callable[[Any], Iterator[Any]]
"""From one value to those it leads to."""


class JsonPathError(ValueError):
    """The path cannot be read."""


class JsonPath:
    """A path such as `.status.conditions[?(@.type=="Ready")].status`; fields that are missing lead nowhere."""

    def __init__(self, text: str) -> None:
        """Parse the path; raises `JsonPathError`."""
        self.text = text
        self._steps = _Parser(text).steps()

    def find(self, value: Any) -> list[Any]:
        """Return what the path leads to, in order, each place once."""
        return _walk([value], self._steps)


def _walk(values: list[Any], steps: Iterable[Step]) -> list[Any]:
    for step in steps:
        # One place may be reached in many ways, with every `..` in many more: it is gone on from once.
        values = list({id(found): found for value in values for found in step(value)}.values())
    return values


_FIELD = re.compile(r"(?:\\.|[^.\[\]\\\s{}()=!<>|,])+")
_INDEX = re.compile(r"-?\d{1,18}")
_SLICE = re.compile(r"(-?\d{1,18})?:(-?\d{1,18})?(?::(\d{1,18}))?")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_COMPARISON = re.compile(r"\s*(==|!=|<=|>=|<|>)\s*")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,3})?")
_DEEPEST = 16
"""Filters inside filters: reading and applying them takes stack."""
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def steps(self) -> list[Step]:
        found = []
        while self.at < len(self.text):
            found.append(self._step())
        return found

    def _step(self) -> Step:
        if self._take(".."):
            return _descend(self._bracket() if self._sees("[") else self._field())
        if self._sees("["):
            return self._bracket()
        if self._take("."):
            if self.at == len(self.text) or self._sees("["):
                return _same
            return self._field()
        return self._field()

    def _field(self) -> Step:
        if self._take("*"):
            return _everything
        found = _FIELD.match(self.text, self.at)
        if found is None:
            raise self._unreadable("a field's name")
        self.at = found.end()
        return _field(re.sub(r"\\(.)", r"\1", found[0]))

    def _bracket(self) -> Step:
        self.at += 1
        if self._take("?("):
            step = self._filter()
            self._expect(")")
        else:
            steps = [self._member()]
            while self._take(","):
                steps.append(self._member())
            step = steps[0] if len(steps) == 1 else _union(steps)
        self._expect("]")
        return step

    def _member(self) -> Step:
        self._blanks()
        if self._take("*"):
            return _everything
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is not None:
            self.at = quoted.end()
            self._blanks()
            return _field(_unquoted(quoted))
        cut = _SLICE.match(self.text, self.at)
        if cut is not None:
            self.at = cut.end()
            return _cut(*(int(part) if part else None for part in cut.groups()))
        index = _INDEX.match(self.text, self.at)
        if index is None:
            raise self._unreadable("an index, a quoted name, * or a filter")
        self.at = index.end()
        self._blanks()
        return _index(int(index[0]))

    def _filter(self) -> Step:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._unreadable(f"at most {_DEEPEST} filters inside each other")
        left = self._operand()
        comparison = _COMPARISON.match(self.text, self.at)
        if comparison is None:
            step = _existing(left)
        else:
            self.at = comparison.end()
            step = _comparing(left, _COMPARE[comparison[1]], self._operand())
        self.depth -= 1
        return step

    def _operand(self) -> "Operand":
        self._blanks()
        if self._take("@"):
            start = self.at
            steps = []
            while self._sees(".") or self._sees("["):
                steps.append(self._step())
            if self.at == start:
                steps.append(_same)
            return lambda value: _walk([value], steps)
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is not None:
            self.at = quoted.end()
            return _constant(_unquoted(quoted))
        for pattern in (_NUMBER, re.compile("true|false")):
            found = pattern.match(self.text, self.at)
            if found is not None:
                self.at = found.end()
                return _constant(json.loads(found[0]))
        raise self._unreadable("@, a number or a quoted text")

    def _blanks(self) -> None:
        while self._sees(" "):
            self.at += 1

    def _sees(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def _take(self, text: str) -> bool:
        if self._sees(text):
            self.at += len(text)
            return True
        return False

    def _expect(self, text: str) -> None:
        self._blanks()
        if not self._take(text):
            raise self._unreadable(text)

    def _unreadable(self, wanted: str) -> JsonPathError:
        found = self.text[self.at :] or "the end"
        return JsonPathError(f"expected {wanted} at {found!r} in JSONPath {self.text!r}")


Operand: TypeAlias = Callable[[Any], list[Any]]
"""From the value that a filter looks at to what is compared."""


def _unquoted(found: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2])


def _constant(value: Any) -> Operand:
    return lambda _: [value]


def _same(value: Any) -> Iterator[Any]:
    yield value


def _everything(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _index(index: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _cut(start: int | None, end: int | None, stride: int | None) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[start : end : stride or 1]

    return step


def _union(steps: Sequence[Step]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        for one in steps:
            yield from one(value)

    return step


def _descend(last: Step) -> Step:
    def step(value: Any) -> Iterator[Any]:
        yield from last(value)
        for inner in _everything(value):
            yield from step(inner)

    return step


def _existing(operand: Operand) -> Step:
    def step(value: Any) -> Iterator[Any]:
        yield from (item for item in _everything(value) if operand(item))

    return step


def _comparing(left: Operand, compare: Callable[[Any, Any], bool], right: Operand) -> Step:
    def holds(item: Any) -> bool:
        one, other = left(item), right(item)
        return bool(one and other) and _kind(one[0]) == _kind(other[0]) and compare(one[0], other[0])

    def step(value: Any) -> Iterator[Any]:
        yield from (item for item in _everything(value) if holds(item))

    return step


def _kind(value: Any) -> str:
    """Return what must be equal for two values to be compared."""
    if isinstance(value, bool) or value is None:
        return str(type(value))
    return "number" if isinstance(value, (int, float)) else type(value).__name__
