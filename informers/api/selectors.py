"""Label and field selectors: the full grammar, parsed as kube-apiserver parses it, with its words for what is wrong."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from informers.api.names import label_value_errors, qualified_name_errors


class SelectorError(ValueError):
    """A selector that cannot be read; the message is kube-apiserver's."""


class Requirement(msgspec.Struct, frozen=True):
    """One condition on a label. Operators: in, notin, =, ==, !=, exists, !, gt, lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels meet it. `!=` and `notin` are also met by labels that lack the key."""
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "!":
                return value is None
            case "in" | "=" | "==":
                return value is not None and value in self.values
            case "notin" | "!=":
                return value is None or value not in self.values
            case _:
                return _compare(value, self.operator, int(self.values[0]))

    def __str__(self) -> str:
        match self.operator:
            case "exists":
                return self.key
            case "!":
                return f"!{self.key}"
            case "in" | "notin":
                return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"
            case "gt" | "lt":
                return f"{self.key}{'>' if self.operator == 'gt' else '<'}{self.values[0]}"
            case _:
                return f"{self.key}{self.operator}{self.values[0]}"


def _compare(value: str | None, operator: str, limit: int) -> bool:
    if value is None or not re.fullmatch(r"[+-]?[0-9]+", value):
        return False
    return int(value) > limit if operator == "gt" else int(value) < limit


class _ApiExpression(msgspec.Struct):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class _ApiSelector(msgspec.Struct, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_ApiExpression] | None = None


class LabelSelector(msgspec.Struct, frozen=True):
    """Requirements that all must be met; none of them means everything."""

    requirements: tuple[Requirement, ...] = ()
    selects_nothing: bool = False

    @classmethod
    def parse(cls, text: str) -> "LabelSelector":
        """Read the text form, such as `app=x,tier in (a,b),!old`; raises `SelectorError`."""
        requirements = _Parser(text).requirements()
        return cls(tuple(sorted(requirements, key=lambda r: r.key)))

    @classmethod
    def from_api(cls, selector: Mapping[str, Any] | None) -> "LabelSelector":
        """Read the API form (matchLabels, matchExpressions): None selects nothing, an empty one everything.

        Raises `SelectorError` with the text that kcp puts into a condition.
        """
        if selector is None:
            return NOTHING
        try:
            read = msgspec.convert(selector, _ApiSelector)
        except msgspec.ValidationError as error:
            raise SelectorError(f"expected a label selector: {error}") from error
        found = [_checked(key, "=", (value,)) for key, value in sorted((read.match_labels or {}).items())]
        for expression in read.match_expressions or ():
            operator = _API_OPERATORS.get(expression.operator)
            if operator is None:
                raise SelectorError(f"{json.dumps(expression.operator)} is not a valid label selector operator")
            found.append(_checked(expression.key, operator, tuple(expression.values or ())))
        return cls(tuple(sorted(found, key=lambda r: r.key)))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels meet all requirements."""
        return not self.selects_nothing and all(r.matches(labels) for r in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


EVERYTHING = LabelSelector()
NOTHING = LabelSelector(selects_nothing=True)

_API_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
_OPERATORS = {"=": "=", "==": "==", "!=": "!=", "in": "in", "notin": "notin", ">": "gt", "<": "lt"}
_TOKEN = re.compile(r"\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))")


def _checked(key: str, operator: str, values: tuple[str, ...]) -> Requirement:
    errors = [f"key: Invalid value: {json.dumps(key)}: {e}" for e in qualified_name_errors(key)]
    if operator in ("in", "notin") and not values:
        errors.append("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty")
    if operator in ("exists", "!") and values:
        shown = json.dumps(list(values)).replace(", ", ",")
        errors.append(f"values: Invalid value: {shown}: values set must be empty for exists and does not exist")
    if operator in ("gt", "lt") and not re.fullmatch(r"[+-]?[0-9]+", values[0]):
        errors.append(
            f"values[0]: Invalid value: {json.dumps(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer"
        )
    for index, value in enumerate(values):
        place = f"values[{index}][{key}]: Invalid value: {json.dumps(value)}"
        errors += [f"{place}: {e}" for e in label_value_errors(value)]
    if errors:
        raise SelectorError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return Requirement(key, operator, values)


class _Parser:
    """A recursive-descent reader of the text form; error texts follow apimachinery's parser."""

    def __init__(self, text: str) -> None:
        self._tokens = [m.group(1) or m.group(2) for m in _TOKEN.finditer(text.rstrip())]
        self._symbols = {"(", ")", ",", "!", "=", "==", "!=", "<", ">", ""}
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _word(self, token: str) -> bool:
        return token not in self._symbols

    def requirements(self) -> Iterable[Requirement]:
        """Read all requirements."""
        found: list[Requirement] = []
        while self._peek():
            if not self._word(self._peek()) and self._peek() != "!":
                raise SelectorError(f"found '{self._peek()}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            if not self._peek():
                break
            if (token := self._next()) != ",":
                raise SelectorError(f"found '{token}', expected: ',' or 'end of string'")
            if not self._word(self._peek()) and self._peek() != "!":
                raise SelectorError(f"found '{self._peek()}', expected: identifier after ','")
        return found

    def _requirement(self) -> Requirement:
        negated = self._peek() == "!"
        if negated:
            self._next()
        key = self._next()
        if not self._word(key):
            raise SelectorError(f"found '{key}', expected: identifier")
        if errors := qualified_name_errors(key):
            raise SelectorError(f"<nil>: Invalid value: {json.dumps(key)}: {errors[0]}")
        if negated:
            return Requirement(key, "!")
        if self._peek() in ("", ","):
            return Requirement(key, "exists")
        token = self._next()
        operator = _OPERATORS.get(token)
        if operator is None:
            raise SelectorError(f"found '{token}', expected: in, notin, =, ==, !=, gt, lt")
        values = self._set() if operator in ("in", "notin") else (self._exact(),)
        return _checked(key, operator, values)

    def _exact(self) -> str:
        if self._peek() in ("", ","):
            return ""
        token = self._next()
        if not self._word(token):
            raise SelectorError(f"found '{token}', expected: identifier")
        return token

    def _set(self) -> tuple[str, ...]:
        if (token := self._next()) != "(":
            raise SelectorError(f"found '{token}' expected: '('")
        if self._peek() == ")":
            self._next()
            return ("",)
        if not self._word(self._peek()) and self._peek() != ",":
            raise SelectorError(f"found '{self._peek()}', expected: ',', ')' or identifier")
        values = self._list()
        self._next()
        return tuple(sorted(values))

    def _list(self) -> set[str]:
        """Read up to the closing parenthesis; commas without a word stand for the empty value."""
        values: set[str] = set()
        while True:
            if self._word(self._peek()):
                values.add(self._next())
                if self._peek() not in (",", ")"):
                    raise SelectorError(f"found '{self._peek()}', expected: ',' or ')'")
            else:
                values.add("")
            if self._peek() == ")":
                return values
            if (token := self._next()) != ",":
                raise SelectorError(f"found '{token}', expected: ',', or identifier")


class FieldRequirement(msgspec.Struct, frozen=True):
    """One condition on a field: equal, or not equal when negated."""

    path: str
    negated: bool
    value: str


class FieldSelector(msgspec.Struct, frozen=True):
    """Conditions on fields that all must be met; none of them means everything."""

    requirements: tuple[FieldRequirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "FieldSelector":
        r"""Read `a=b,c!=d`; `\,`, `\=` and `\\` are escapes. Raises `SelectorError`."""
        return cls(tuple(_field_term(term, text) for term in re.findall(r"(?:\\.|[^,\\])+", text) if term))

    def matches(self, get: Callable[[str], str]) -> bool:
        """Say whether the fields meet all requirements; `get` returns a field's text by its path."""
        return all((get(r.path) != r.value) if r.negated else (get(r.path) == r.value) for r in self.requirements)

    def __str__(self) -> str:
        return ",".join(f"{r.path}{'!=' if r.negated else '='}{_escaped(r.value)}" for r in self.requirements)


def _field_term(term: str, whole: str) -> FieldRequirement:
    found = re.fullmatch(r"((?:\\.|[^=!\\])*)(!=|==|=)(.*)", term, re.DOTALL)
    if found is None:
        raise SelectorError(f"invalid selector: '{whole}'; can't understand '{term}'")
    path, operator, value = found.groups()
    return FieldRequirement(path, operator == "!=", _unescaped(value, whole))


def _unescaped(value: str, whole: str) -> str:
    if re.search(r"(?<!\\)(?:\\\\)*[,=]", value):
        raise SelectorError(f"invalid field selector: unescaped character in value of '{whole}'")
    if re.search(r"(?<!\\)(?:\\\\)*\\(?![\\,=])", value):
        raise SelectorError(f"invalid field selector: invalid escape sequence in '{whole}'")
    return re.sub(r"\\([\\,=])", r"\1", value)


def _escaped(value: str) -> str:
    return re.sub(r"([\\,=])", r"\\\1", value)
