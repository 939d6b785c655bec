"""Read YAML bodies as kube-apiserver does: YAML 1.1 as go-yaml understands it, turned into JSON."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
import yaml

from kcpctl.apiserver.gotext import number, quote
from kcpctl.apiserver.shapes.base64 import decode as decode_base64
from kcpctl.apiserver.writing.strict import MOST
from kcpctl.apiserver.writing.yamlscalars import Undecodable, resolve

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(ValueError):
    """A text that is not the YAML of one JSON value; the message is go-yaml's."""


class Read(msgspec.Struct, frozen=True):
    """What a text says, and which keys it says twice."""

    value: Any
    duplicates: tuple[str, ...] = ()
    """Such as `line 5: key "name" already set in map`."""

    @property
    def problem(self) -> str:
        """All duplicates as one strict error; `""` if there are none."""
        return "yaml: unmarshal errors:\n  " + "\n  ".join(self.duplicates) if self.duplicates else ""


def read(text: bytes) -> Read:
    """Read the first document of the text; raises `YamlError`."""
    builder = _Builder(_events(text))
    try:
        value = builder.document()
    except yaml.MarkedYAMLError as error:
        raise YamlError(_said(error)) from None
    except yaml.reader.ReaderError:
        raise YamlError("yaml: control characters are not allowed") from None
    return Read(value, tuple(builder.duplicates))


def _events(text: bytes) -> Iterator[Any]:
    parsed: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
    return parsed


def _said(error: yaml.MarkedYAMLError) -> str:
    """go-yaml gives a line where it is not the first; its scanner counts from one, its parser from zero."""
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    where = f"line {line}: " if line else ""
    return f"yaml: {where}{error.problem}"


class _Anchored(msgspec.Struct, frozen=True):
    value: Any
    size: int


class _Builder:
    """Builds one value from a document's events; an alias becomes a copy, and too many copies an error."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors: dict[str, _Anchored] = {}
        self._open: set[str] = set()
        self._made = 0
        self._copied = 0
        self.duplicates: list[str] = []

    def document(self) -> Any:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                return self._node(next(self._events))
        return None

    def _node(self, event: Any) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor or "")
        before = self._made
        self._made += 1
        if event.anchor:
            self._open.add(event.anchor)
        value = self._value(event)
        if event.anchor:
            self._open.discard(event.anchor)
            self._anchors[event.anchor] = _Anchored(value, self._made - before)
        return value

    def _value(self, event: Any) -> Any:
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping()
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(event))
            return items
        return _scalar(event)

    def _alias(self, anchor: str) -> Any:
        known = self._anchors.get(anchor)
        if anchor in self._open:
            raise YamlError(f"yaml: anchor '{anchor}' value contains itself")
        if known is None:
            raise YamlError(f"yaml: unknown anchor '{anchor}' referenced")
        self._made += known.size
        self._copied += known.size
        if self._copied > 100 and self._made > 1000 and self._copied / self._made > _allowed_share(self._made):
            raise YamlError("yaml: document contains excessive aliasing")
        return deepcopy(known.value)

    def _mapping(self) -> dict[str, Any]:
        result: dict[str, Any] = {}
        said: set[str] = set()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if _is_merge(event):
                self._merge(result, said, next(self._events))
                continue
            key = self._node(event)
            event = next(self._events)
            line = event.start_mark.line + 1
            name = _key_text(key, event)
            self._say(said, name, quote(key) if isinstance(key, str) else name, line)
            result[name] = self._node(event)
        return result

    def _merge(self, result: dict[str, Any], said: set[str], event: Any) -> None:
        merged = self._node(event)
        for source in reversed(merged) if isinstance(merged, list) else [merged]:
            if not isinstance(source, dict):
                raise YamlError("yaml: map merge requires map or sequence of maps as the value")
            for name, value in source.items():
                self._say(said, name, quote(name), event.start_mark.line + 1)
                result[name] = value

    def _say(self, said: set[str], name: str, shown: str, line: int) -> None:
        if name in said and len(self.duplicates) < MOST:
            self.duplicates.append(f"line {line}: key {shown} already set in map")
        said.add(name)


def _is_merge(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]


def _allowed_share(made: int) -> float:
    """Return which share of all nodes may be copies: small documents may repeat themselves, big ones hardly."""
    low, high = 400_000, 4_000_000
    return 0.99 if made <= low else 0.10 if made >= high else 0.99 - 0.89 * (made - low) / (high - low)


def _scalar(event: Any) -> Any:
    tag = event.tag or ""
    if tag == "!":
        tag = "tag:yaml.org,2002:str"
    if not event.implicit[0] and not tag:
        return event.value
    if tag == "tag:yaml.org,2002:binary":
        try:
            return decode_base64(event.value).decode("utf-8", "replace")
        except ValueError:
            raise YamlError("yaml: !!binary value contains invalid base64 data") from None
    try:
        return resolve(tag, event.value)
    except Undecodable as error:
        raise YamlError(str(error)) from None


def _key_text(key: Any, value: Any) -> str:
    match key:
        case str():
            return key
        case bool():
            return "true" if key else "false"
        case int() | float():
            return number(key)
        case None:
            shown = quote(getattr(value, "value", ""))
            raise YamlError(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}")
        case _:
            raise YamlError("yaml: invalid map key: a map key must be a scalar")
