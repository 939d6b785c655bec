"""Types that all kinds share: metadata, owners, options of deletions."""

from kcpctl.apiserver.shapes.fields import (
    ALWAYS,
    UNLESS_ABSENT,
    Field,
    Kind,
    Message,
    many,
    one,
    scalar,
    text,
    text_map,
    texts,
)

OWNER_REFERENCE = Message(
    "OwnerReference",
    (
        text("apiVersion", 5, ALWAYS),
        text("kind", 1, ALWAYS),
        text("name", 3, ALWAYS),
        text("uid", 4, ALWAYS, go_type="types.UID"),
        scalar("controller", 6, Kind.FLAG, UNLESS_ABSENT),
        scalar("blockOwnerDeletion", 7, Kind.FLAG, UNLESS_ABSENT),
    ),
)

MANAGED_FIELDS_ENTRY = Message(
    "ManagedFieldsEntry",
    (
        text("manager", 1),
        text("operation", 2, go_type="v1.ManagedFieldsOperationType"),
        text("apiVersion", 3),
        scalar("time", 4, Kind.TIME),
        text("fieldsType", 6),
        scalar("fieldsV1", 7, Kind.FREE, UNLESS_ABSENT),
        text("subresource", 8),
    ),
)

OBJECT_META = Message(
    "ObjectMeta",
    (
        text("name", 1),
        text("generateName", 2),
        text("namespace", 3),
        text("selfLink", 4),
        text("uid", 5, go_type="types.UID"),
        text("resourceVersion", 6),
        scalar("generation", 7, Kind.INT64),
        scalar("creationTimestamp", 8, Kind.TIME),
        scalar("deletionTimestamp", 9, Kind.TIME),
        scalar("deletionGracePeriodSeconds", 10, Kind.INT64, UNLESS_ABSENT),
        text_map("labels", 11),
        text_map("annotations", 12),
        many("ownerReferences", 13, OWNER_REFERENCE, merge_key="uid"),
        texts("finalizers", 14, is_set=True),
        many("managedFields", 17, MANAGED_FIELDS_ENTRY),
    ),
)

PRECONDITIONS = Message(
    "Preconditions",
    (text("uid", 1, UNLESS_ABSENT, go_type="types.UID"), text("resourceVersion", 2, UNLESS_ABSENT)),
)

KIND = text("kind", 0)
API_VERSION = text("apiVersion", 0)

DELETE_OPTIONS = Message(
    "DeleteOptions",
    (
        KIND,
        API_VERSION,
        scalar("gracePeriodSeconds", 1, Kind.INT64, UNLESS_ABSENT),
        one("preconditions", 2, PRECONDITIONS, UNLESS_ABSENT),
        scalar("orphanDependents", 3, Kind.FLAG, UNLESS_ABSENT),
        text("propagationPolicy", 4, UNLESS_ABSENT, go_type="v1.DeletionPropagation"),
        texts("dryRun", 5),
        scalar("ignoreStoreReadErrorWithClusterBreakingPotential", 6, Kind.FLAG, UNLESS_ABSENT),
    ),
)


def top(name: str, *fields: Field, package: str = "v1") -> Message:
    """Return a kind: kind, apiVersion and metadata come first."""
    return Message(name, (KIND, API_VERSION, one("metadata", 1, OBJECT_META), *fields), package)
