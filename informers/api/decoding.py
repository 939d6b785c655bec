"""Readers: from the bytes of lists, pages and watch lines to Objects, one prebuilt decoder each."""

from collections.abc import Callable, Iterable
from sys import intern
from typing import Any, Generic, TypeVar

import msgspec

from informers.api.errors import DecodeError
from informers.api.heads import (
    NO_ROUTING,
    Head,
    decode_head,
    decode_labels,
    decode_line,
    decode_list,
    decode_status,
)
from informers.api.objects import _EMPTY, Key, Object
from informers.api.peeking import Path, Peek, Peeker
from informers.api.resources import Resource
from informers.api.status import Status

T = TypeVar("T")


class Malformed(msgspec.Struct, frozen=True):
    """An object that could not be read: where it seems to live, and why."""

    key: Key
    error: str
    raw: bytes


class Page(msgspec.Struct, Generic[T], frozen=True):
    """One answer to a list: objects in server order, the list's revision, and how to go on."""

    objects: list[Object[T]]
    revision: str = ""
    continue_: str = ""
    remaining: int | None = None
    malformed: list[Malformed] = []
    bytes: int = 0
    """Size of the decoded body."""


class WatchEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """One line of a watch. Exactly one of `object`, `status`, `malformed` is set, none of them for a BOOKMARK."""

    type: str
    """ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, or what the server invented."""
    object: Object[T] | None = None
    revision: str = ""
    status: Status | None = None
    malformed: Malformed | None = None
    initial_events_end: bool = False


_PREFIXES = {b'{"type":"%s","object":' % t.encode(): t for t in ("ADDED", "MODIFIED", "DELETED")}
_PREFIX_BY_LENGTH = {p[:12]: (p, len(p), t) for p, t in _PREFIXES.items()}
_MODIFIED = next(known for known in _PREFIX_BY_LENGTH.values() if known[2] == "MODIFIED")
_LABEL_SETS_KEPT = 16_384


class Reader(Generic[T]):
    """Reads one collection's bytes; keeps label sets that recur, so that equal labels cost their memory once."""

    def __init__(self, resource: Resource[T], *, cluster: str = "", shard: str = "") -> None:
        """Take the cluster and shard that objects get where the server does not annotate them."""
        self.resource = resource
        self._model = resource.model
        self._cluster = intern(cluster) if cluster != "*" else ""
        self._shard = intern(shard) if shard != "*" else ""
        self._labels: dict[bytes, dict[str, str]] = {b"{}": _EMPTY, b"null": _EMPTY}
        self._decode: Callable[[bytes], Any] = decode_head
        self._peek_of: Callable[[Any], Peek | None] | None = None

    def peek_at(self, paths: Iterable[Path]) -> None:
        """Read what is at these paths together with the head, from now on, for `Object.peek`."""
        peeker = Peeker(Head, paths)
        self._decode, self._peek_of = (peeker.decode, peeker.peek) if peeker.paths else (decode_head, None)

    def object(self, raw: bytes) -> Object[T]:
        """Read one object; raises `DecodeError` when it is not one."""
        try:
            return self._object(raw)
        except msgspec.DecodeError as error:
            raise DecodeError(f"expected a {self.resource.plural} object, found {_shown(raw)}: {error}") from error

    def page(self, body: bytes) -> Page[T]:
        """Read a list; objects that cannot be read are set aside in `malformed`, the rest goes on."""
        try:
            found = decode_list(body)
        except msgspec.DecodeError as error:
            raise DecodeError(f"expected a list of {self.resource.plural}, found {_shown(body)}: {error}") from error
        if found.kind == "Table":
            raise DecodeError(f"expected a list of {self.resource.plural}, found a Table")
        objects, malformed = self.objects(found.items or [])
        meta = found.metadata
        return Page(
            objects, meta.resource_version, meta.continue_, meta.remaining_item_count, malformed, bytes=len(body)
        )

    def objects(self, items: list[msgspec.Raw]) -> tuple[list[Object[T]], list[Malformed]]:
        """Read items of a list, each a copy that keeps nothing else alive; set those aside that cannot be read."""
        raws = list(map(bytes, items))
        try:
            return self._objects(raws), []
        except msgspec.DecodeError:
            return self._one_by_one(raws)

    def _one_by_one(self, raws: list[bytes]) -> tuple[list[Object[T]], list[Malformed]]:
        objects: list[Object[T]] = []
        malformed: list[Malformed] = []
        for raw in raws:
            try:
                objects += self._objects([raw])
            except msgspec.DecodeError as error:
                malformed.append(self._malformed(raw, error))
        return objects, malformed

    def events(self, lines: bytes, into: list[WatchEvent[T]]) -> None:
        """Read whole lines of a watch, blank ones aside, and append what they tell.

        Raises `DecodeError` when a line is not an event; those before it are in the list then.
        """
        find, starts_with = lines.find, lines.startswith
        start, end = 0, find(b"\n")
        while end >= 0:
            prefix, skipped, kind = _PREFIX_BY_LENGTH.get(lines[start : start + 12], _MODIFIED)
            first, raws = start, []
            while starts_with(prefix, start) and end >= 0:  # most lines begin like the one before
                raws.append(lines[start + skipped : end - 1])
                start = end + 1
                end = find(b"\n", start)
            if raws:
                self._events_alike(kind, raws, lines[first:start], into)
            else:
                self._event_or_blank(lines[start:end], into)
                start = end + 1
                end = find(b"\n", start)

    def _events_alike(self, kind: str, raws: list[bytes], lines: bytes, into: list[WatchEvent[T]]) -> None:
        try:
            into += [WatchEvent(kind, obj, obj.rv) for obj in self._objects(raws)]
        except msgspec.DecodeError:  # other fields may follow the object, or it is malformed: the slow way tells
            for line in lines.split(b"\n"):
                self._event_or_blank(line, into)

    def _event_or_blank(self, line: bytes, into: list[WatchEvent[T]]) -> None:
        if line := line.strip():
            into.append(self._any_event(line))

    def event(self, line: bytes) -> WatchEvent[T]:
        """Read one watch line, or what stands for one; raises `DecodeError` when it is not an event."""
        return self._any_event(line)

    def _any_event(self, line: bytes) -> WatchEvent[T]:
        try:
            found = decode_line(line)
        except msgspec.DecodeError as error:
            raise DecodeError(
                f"expected a watch event of {self.resource.plural}, found {_shown(line)}: {error}"
            ) from error
        raw = bytes(found.object)
        if found.type == "ERROR":
            return WatchEvent("ERROR", status=_status(raw))
        try:
            if found.type == "BOOKMARK":
                meta = decode_head(raw).metadata
                ended = meta.annotations is not None and meta.annotations.initial_events_end == "true"
                return WatchEvent("BOOKMARK", revision=meta.resource_version, initial_events_end=ended)
            obj = self._object(raw)
            return WatchEvent(found.type, obj, obj.rv)
        except msgspec.DecodeError as error:
            return WatchEvent(found.type, malformed=self._malformed(raw, error))

    def _object(self, raw: bytes) -> Object[T]:
        return self._objects([raw])[0]

    def _objects(self, raws: list[bytes]) -> list[Object[T]]:
        """Read many; one loop, since a call for each object shows. Raises at the first that cannot be read."""
        decode, peek_of = self._decode, self._peek_of
        shard, cluster, model, known_labels = self._shard, self._cluster, self._model, self._labels
        objects = []
        for raw in raws:
            try:
                head = decode(raw)
                peek = peek_of(head) if peek_of is not None else None
            except msgspec.ValidationError:  # where a path leads astray nothing is there to peek at
                head, peek = decode_head(raw), None
            meta = head.metadata
            name, routing = meta.name, meta.annotations
            if not name:
                raise msgspec.ValidationError("Object has no `metadata.name`")
            if routing is None or routing is NO_ROUTING:
                key = Key(shard, cluster, intern(meta.namespace), name)
            else:
                key = Key(
                    intern(routing.shard or shard), intern(routing.cluster or cluster), intern(meta.namespace), name
                )
            label_bytes = b"%b" % meta.labels  # bytes() costs twice as much
            labels = known_labels.get(label_bytes)
            if labels is None:
                labels = self._new_labels(label_bytes)
            objects.append(
                Object(
                    key,
                    raw,
                    meta.uid,
                    meta.resource_version,
                    meta.generation,
                    meta.deletion_timestamp,
                    labels,
                    model,
                    peek,
                )
            )
        return objects

    def _new_labels(self, raw: bytes) -> dict[str, str]:
        labels = decode_labels(raw) or _EMPTY
        if len(self._labels) >= _LABEL_SETS_KEPT:
            self._labels.clear()
            self._labels |= {b"{}": _EMPTY, b"null": _EMPTY}
        self._labels[raw] = labels
        return labels

    def _malformed(self, raw: bytes, error: Exception) -> Malformed:
        return Malformed(self._guess_key(raw), str(error), raw)

    def _guess_key(self, raw: bytes) -> Key:
        """Find out where a malformed object lives as far as its bytes say."""
        try:
            body = msgspec.json.decode(raw)
        except msgspec.DecodeError:
            return Key()
        meta = body.get("metadata") if isinstance(body, dict) else None
        if not isinstance(meta, dict):
            return Key()
        notes = meta.get("annotations")
        notes = notes if isinstance(notes, dict) else {}
        return Key(
            _text(notes.get("kcp.io/shard")) or self._shard,
            _text(notes.get("kcp.io/cluster")) or self._cluster,
            _text(meta.get("namespace")),
            _text(meta.get("name")),
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _status(raw: bytes) -> Status:
    try:
        return decode_status(raw)
    except msgspec.DecodeError as error:
        raise DecodeError(f"expected a Status in an ERROR event, found {_shown(raw)}: {error}") from error


def _shown(raw: bytes, limit: int = 80) -> str:
    text = raw[:limit].decode("utf-8", "replace")
    return repr(text) + ("…" if len(raw) > limit else "")
