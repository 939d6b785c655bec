"""The kinds of the core, coordination and events groups that are built in."""

from kcpctl.apiserver.shapes.fields import (
    ALWAYS,
    UNLESS_ABSENT,
    Kind,
    Message,
    bytes_map,
    many,
    one,
    scalar,
    text,
    text_map,
    texts,
)
from kcpctl.apiserver.shapes.meta import top

CONFIG_MAP = top(
    "ConfigMap",
    scalar("immutable", 4, Kind.FLAG, UNLESS_ABSENT),
    text_map("data", 2),
    bytes_map("binaryData", 3),
)

SECRET = top(
    "Secret",
    scalar("immutable", 5, Kind.FLAG, UNLESS_ABSENT),
    bytes_map("data", 2),
    text_map("stringData", 4),
    text("type", 3, go_type="v1.SecretType"),
)

NAMESPACE_CONDITION = Message(
    "NamespaceCondition",
    (
        text("type", 1, ALWAYS, go_type="v1.NamespaceConditionType"),
        text("status", 2, ALWAYS, go_type="v1.ConditionStatus"),
        scalar("lastTransitionTime", 4, Kind.TIME, ALWAYS),
        text("reason", 5),
        text("message", 6),
    ),
)
NAMESPACE = top(
    "Namespace",
    one("spec", 2, Message("NamespaceSpec", (texts("finalizers", 1, go_type="v1.FinalizerName"),))),
    one(
        "status",
        3,
        Message(
            "NamespaceStatus",
            (
                text("phase", 1, go_type="v1.NamespacePhase"),
                many("conditions", 2, NAMESPACE_CONDITION, merge_key="type"),
            ),
        ),
    ),
)

OBJECT_REFERENCE = Message(
    "ObjectReference",
    (
        text("kind", 1),
        text("namespace", 2),
        text("name", 3),
        text("uid", 4, go_type="types.UID"),
        text("apiVersion", 5),
        text("resourceVersion", 6),
        text("fieldPath", 7),
    ),
)
SERVICE_ACCOUNT = top(
    "ServiceAccount",
    many("secrets", 2, OBJECT_REFERENCE, merge_key="name"),
    many("imagePullSecrets", 3, Message("LocalObjectReference", (text("name", 1),))),
    scalar("automountServiceAccountToken", 4, Kind.FLAG, UNLESS_ABSENT),
)

LEASE = top(
    "Lease",
    one(
        "spec",
        2,
        Message(
            "LeaseSpec",
            (
                text("holderIdentity", 1, UNLESS_ABSENT),
                scalar("leaseDurationSeconds", 2, Kind.INT32, UNLESS_ABSENT),
                scalar("acquireTime", 3, Kind.MICRO_TIME),
                scalar("renewTime", 4, Kind.MICRO_TIME),
                scalar("leaseTransitions", 5, Kind.INT32, UNLESS_ABSENT),
                text("strategy", 6, UNLESS_ABSENT, go_type="v1.CoordinatedLeaseStrategy"),
                text("preferredHolder", 7, UNLESS_ABSENT),
            ),
        ),
    ),
)

EVENT_SOURCE = Message("EventSource", (text("component", 1), text("host", 2)))
EVENT = top(
    "Event",
    one("involvedObject", 2, OBJECT_REFERENCE),
    text("reason", 3),
    text("message", 4),
    one("source", 5, EVENT_SOURCE),
    scalar("firstTimestamp", 6, Kind.TIME, ALWAYS),
    scalar("lastTimestamp", 7, Kind.TIME, ALWAYS),
    scalar("count", 8, Kind.INT32),
    text("type", 9),
    scalar("eventTime", 10, Kind.MICRO_TIME, ALWAYS),
    one(
        "series",
        11,
        Message(
            "EventSeries",
            (scalar("count", 1, Kind.INT32), scalar("lastObservedTime", 2, Kind.MICRO_TIME, ALWAYS)),
        ),
        UNLESS_ABSENT,
    ),
    text("action", 12),
    one("related", 13, OBJECT_REFERENCE, UNLESS_ABSENT),
    text("reportingComponent", 14, ALWAYS),
    text("reportingInstance", 15, ALWAYS),
)
"""core/v1, in which both groups' events are stored."""

EVENT_OF_EVENTS = top(
    "Event",
    scalar("eventTime", 2, Kind.MICRO_TIME, ALWAYS),
    one(
        "series",
        3,
        Message(
            "EventSeries",
            (scalar("count", 1, Kind.INT32, ALWAYS), scalar("lastObservedTime", 2, Kind.MICRO_TIME, ALWAYS)),
        ),
        UNLESS_ABSENT,
    ),
    text("reportingController", 4),
    text("reportingInstance", 5),
    text("action", 6),
    text("reason", 7),
    one("regarding", 8, OBJECT_REFERENCE),
    one("related", 9, OBJECT_REFERENCE, UNLESS_ABSENT),
    text("note", 10),
    text("type", 11),
    one("deprecatedSource", 12, EVENT_SOURCE),
    scalar("deprecatedFirstTimestamp", 13, Kind.TIME, ALWAYS),
    scalar("deprecatedLastTimestamp", 14, Kind.TIME, ALWAYS),
    scalar("deprecatedCount", 15, Kind.INT32),
)
"""events.k8s.io/v1."""
