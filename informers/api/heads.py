"""What readers decode of objects, lists and watch lines: the head of each, the rest stays bytes."""

import msgspec

from informers.api.status import Status

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
"""Annotation of the bookmark that ends a streamed list; only the value "true" counts."""


class Routing(msgspec.Struct, frozen=True, gc=False):
    """The annotations that say where an object lives, and where a streamed list ends."""

    cluster: str = msgspec.field(name="kcp.io/cluster", default="")
    shard: str = msgspec.field(name="kcp.io/shard", default="")
    initial_events_end: str = msgspec.field(name=INITIAL_EVENTS_END, default="")


NO_ROUTING = Routing()
"""Of whatever has no annotations."""
_NO_LABELS = msgspec.Raw(b"{}")


class HeadMetadata(msgspec.Struct, gc=False, rename="camel"):
    """The metadata that `Object` keeps beside the bytes; labels stay bytes until they are new."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None
    labels: msgspec.Raw = _NO_LABELS
    annotations: Routing | None = NO_ROUTING


class Head(msgspec.Struct, gc=False):
    """An object's metadata; peekers add fields."""

    metadata: HeadMetadata


class ListMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The metadata of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class List(msgspec.Struct, gc=False, rename="camel"):
    """A list whose items stay bytes."""

    items: list[msgspec.Raw] | None = None
    metadata: ListMetadata = ListMetadata()
    kind: str = ""


class Line(msgspec.Struct, gc=False):
    """A line of a watch whose object stays bytes."""

    type: str
    object: msgspec.Raw


decode_head = msgspec.json.Decoder(Head).decode
decode_list = msgspec.json.Decoder(List).decode
decode_line = msgspec.json.Decoder(Line).decode
decode_status = msgspec.json.Decoder(Status).decode
decode_labels = msgspec.json.Decoder(dict[str, str] | None).decode
