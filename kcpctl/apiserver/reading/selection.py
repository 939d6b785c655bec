"""Which objects of a collection a list or watch is about, found out with as little decoding as possible."""

import msgspec

from informers.api.selectors import FieldRequirement, FieldSelector
from kcpctl.apiserver import stored
from kcpctl.apiserver.call import Call
from kcpctl.apiserver.keys import Extent, Place, extent, place
from kcpctl.apiserver.reading.fields import NAME, NAMESPACE, field_text
from kcpctl.apiserver.reading.options import ListOptions
from kcpctl.apiserver.storage.base import Record


class _Metadata(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Head(msgspec.Struct, gc=False):
    metadata: _Metadata


_decode_head = msgspec.json.Decoder(_Head).decode
_IN_KEY = (NAME, NAMESPACE)


class Selection:
    """One request's choice. Where an object lives is read off its key, labels off its head, the rest off the whole.

    Invariant: all wanted keys are under `prefix`, which is `collection` or narrower.
    """

    def __init__(self, call: Call, options: ListOptions) -> None:
        """Choose what the call's collection and its selectors leave."""
        self._served = call.served
        self._is_cache = call.scope.is_cache
        requirements = options.fields.requirements
        self._in_key = FieldSelector(tuple(r for r in requirements if r.path in _IN_KEY))
        self._in_body = FieldSelector(tuple(r for r in requirements if r.path not in _IN_KEY))
        self._labels = options.labels
        self._extent = extent(call.served, call.scope, call.namespace or _exact(requirements, NAMESPACE))
        self.collection = self._extent.prefix
        self.prefix = _narrowed(self._extent, call, _exact(requirements, NAME))
        self.takes_all_keys = not (self._in_key.requirements or self._extent.pins)
        self.takes_all = self.takes_all_keys and not (options.labels.requirements or self._in_body.requirements)

    def wants_key(self, key: str) -> bool:
        """Say whether an object at this key may be wanted at all."""
        if self.takes_all_keys:
            return True
        if not self._extent.covers(key):
            return False
        if not self._in_key.requirements:
            return True
        where = place(key, is_cache=self._is_cache)
        return self._in_key.matches(lambda path: _from_place(where, path))

    def wants(self, record: Record) -> bool:
        """Say whether a record is wanted."""
        return self.takes_all or (self.wants_key(record.key) and self.wants_content(record))

    def wants_content(self, record: Record) -> bool:
        """Say whether a record whose key is wanted is wanted."""
        if self._labels.requirements:
            labels = _decode_head(record.value).metadata.labels
            if not self._labels.matches(labels or {}):
                return False
        return not self._in_body.requirements or self._body_matches(record)

    def _body_matches(self, record: Record) -> bool:
        obj = stored.decode(record.value)
        if not self._served.strategy.serves_stored_bytes:
            obj = self._served.strategy.from_storage(obj)
        return self._in_body.matches(lambda path: field_text(self._served, obj, path))


def _exact(requirements: tuple[FieldRequirement, ...], path: str) -> str:
    return next((r.value for r in requirements if r.path == path and not r.negated), "")


def _narrowed(whole: Extent, call: Call, name: str) -> str:
    """Return the prefix of the only key that can be wanted, where the name completes it; else the whole extent's."""
    place_is_known = not whole.pins and not call.scope.is_wildcard and (call.namespace or not call.served.namespaced)
    return whole.prefix + name if name and place_is_known else whole.prefix


def _from_place(where: Place, path: str) -> str:
    return where.name if path == NAME else where.namespace
