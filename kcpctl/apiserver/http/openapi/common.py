"""Schemas that every document carries: the metadata of objects and lists, options, Status, Scale."""

from typing import Any

Schema = dict[str, Any]

PREFIX = "io.k8s.apimachinery.pkg.apis.meta.v1."
SCALE = "io.k8s.api.autoscaling.v1.Scale"


def ref(name: str) -> Schema:
    """Return a reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def meta(name: str) -> Schema:
    """Return a reference to one of the schemas of meta.k8s.io."""
    return ref(PREFIX + name)


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _number(description: str, bits: int = 64) -> Schema:
    return {"type": "integer", "format": f"int{bits}", "description": description}


def _replicas(description: str) -> Schema:
    return _number(description, 32) | {"default": 0}


def _flag(description: str) -> Schema:
    return {"type": "boolean", "description": description}


def _texts(description: str, **more: Any) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description, **more}


def _text_map(description: str) -> Schema:
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": description}


def wrapped(reference: Schema, description: str, **more: Any) -> Schema:
    """Return a reference with a description, which OpenAPI 3.0 allows only around it."""
    return {"allOf": [reference], "description": description, **more}


def _wrapped(name: str, description: str, **more: Any) -> Schema:
    return wrapped(meta(name), description, **more)


def _list_of(name: str, description: str, **more: Any) -> Schema:
    return {"type": "array", "items": meta(name), "description": description, **more}


def _object(description: str, properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    schema: Schema = {"type": "object", "description": description, "properties": properties}
    return schema | ({"required": list(required)} if required else {})


API_VERSION = _text("The group and version that this object is written in.")
KIND = _text("The kind of this object, in CamelCase. Cannot be changed.")
_ATOMIC = {"x-kubernetes-list-type": "atomic"}

_OBJECT_META = _object(
    "Metadata that every stored object has.",
    {
        "annotations": _text_map("Arbitrary texts that tools keep with the object; nothing selects by them."),
        "creationTimestamp": _wrapped("Time", "When the server created the object. Set by the server."),
        "deletionGracePeriodSeconds": _number("Seconds that the object had to end gracefully when it was deleted."),
        "deletionTimestamp": _wrapped("Time", "When deletion was asked for; finalizers may hold the object."),
        "finalizers": _texts(
            "Who has to agree before the object is removed.",
            **{"x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge"},
        ),
        "generateName": _text("A prefix from which the server makes a unique name when no name is given."),
        "generation": _number("Counts the changes of the desired state. Set by the server."),
        "labels": _text_map("Short texts that selectors choose objects by."),
        "managedFields": _list_of("ManagedFieldsEntry", "Which fields each manager has set.", **_ATOMIC),
        "name": _text("The object's name, unique within its namespace or cluster. Cannot be changed."),
        "namespace": _text("The namespace that the object lives in; empty for kinds without one."),
        "ownerReferences": _list_of(
            "OwnerReference",
            "The objects that this one depends on.",
            **{
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "x-kubernetes-patch-merge-key": "uid",
                "x-kubernetes-patch-strategy": "merge",
            },
        ),
        "resourceVersion": _text("The server's revision of this object; opaque, equal only for equal states."),
        "selfLink": _text("Not used any more."),
        "uid": _text("Tells this object from all others, past and future. Set by the server."),
    },
)

_STATUS_DETAILS = _object(
    "What a Status says besides its reason.",
    {
        "causes": _list_of("StatusCause", "Each thing that went wrong.", **_ATOMIC),
        "group": _text("The group of the resource that the Status is about."),
        "kind": _text("The kind or plural of the resource that the Status is about."),
        "name": _text("The object that the Status is about."),
        "retryAfterSeconds": _number("Seconds after which trying again makes sense.", 32),
        "uid": _text("The uid of the object that the Status is about."),
    },
)

_DELETE_OPTIONS = _object(
    "How to delete an object.",
    {
        "apiVersion": API_VERSION,
        "dryRun": _texts("`All` goes through everything without storing anything.", **_ATOMIC),
        "gracePeriodSeconds": _number("Seconds the object has to end gracefully; only some kinds heed it."),
        "kind": KIND,
        "orphanDependents": _flag("Older form of propagationPolicy: whether dependents stay."),
        "preconditions": _wrapped("Preconditions", "What must be true, or nothing is deleted."),
        "propagationPolicy": _text("What happens to dependents: Orphan, Background or Foreground."),
    },
)

META: dict[str, Schema] = {
    PREFIX + name: schema
    for name, schema in {
        "DeleteOptions": _DELETE_OPTIONS,
        "FieldsV1": {"type": "object", "description": "A set of fields, as a tree of their names."},
        "ListMeta": _object(
            "Metadata of lists.",
            {
                "continue": _text("Where the next page starts; empty on the last one."),
                "remainingItemCount": _number("How many items follow, where the server knows."),
                "resourceVersion": _text("The revision that the list shows."),
                "selfLink": _text("Not used any more."),
            },
        ),
        "ManagedFieldsEntry": _object(
            "The fields that one manager has set with one operation.",
            {
                "apiVersion": _text("The version that the fields are named in."),
                "fieldsType": _text("The format of the fields: FieldsV1."),
                "fieldsV1": _wrapped("FieldsV1", "The fields."),
                "manager": _text("Who set them."),
                "operation": _text("Apply or Update."),
                "subresource": _text("The subresource that they were set through."),
                "time": _wrapped("Time", "When the set of fields last changed."),
            },
        ),
        "MicroTime": _text("A time in RFC 3339, with microseconds.", format="date-time"),
        "ObjectMeta": _OBJECT_META,
        "OwnerReference": _object(
            "An object that another one depends on.",
            {
                "apiVersion": _text("The owner's group and version.", default=""),
                "blockOwnerDeletion": _flag("Whether an owner deleted in foreground waits for this object."),
                "controller": _flag("Whether the owner is the one that manages this object."),
                "kind": _text("The owner's kind.", default=""),
                "name": _text("The owner's name.", default=""),
                "uid": _text("The owner's uid.", default=""),
            },
            ("apiVersion", "kind", "name", "uid"),
        )
        | {"x-kubernetes-map-type": "atomic"},
        "Patch": {"type": "object", "description": "A patch, in the format that the media type names."},
        "Preconditions": _object(
            "What must be true of an object before it is deleted.",
            {"resourceVersion": _text("Its revision."), "uid": _text("Its uid.")},
        ),
        "Status": _object(
            "The outcome of a request that returns no other object.",
            {
                "apiVersion": API_VERSION,
                "code": _number("The HTTP status code.", 32),
                "details": _wrapped("StatusDetails", "More about the reason."),
                "kind": KIND,
                "message": _text("What happened, for people."),
                "metadata": _wrapped("ListMeta", "Metadata, mostly empty.", default={}),
                "reason": _text("What happened, for programs."),
                "status": _text("Success or Failure."),
            },
        ),
        "StatusCause": _object(
            "One thing that went wrong.",
            {
                "field": _text("The field that is wrong."),
                "message": _text("What is wrong, for people."),
                "reason": _text("What is wrong, for programs."),
            },
        ),
        "StatusDetails": _STATUS_DETAILS,
        "Time": _text("A time in RFC 3339.", format="date-time"),
    }.items()
}

SCALE_SCHEMAS: dict[str, Schema] = {
    SCALE: _object(
        "How many replicas an object asks for and has.",
        {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": _wrapped("ObjectMeta", "Metadata of the object that is scaled.", default={}),
            "spec": wrapped(ref(SCALE + "Spec"), "What is asked for.", default={}),
            "status": wrapped(ref(SCALE + "Status"), "What there is.", default={}),
        },
    )
    | {"x-kubernetes-group-version-kind": [{"group": "autoscaling", "version": "v1", "kind": "Scale"}]},
    SCALE + "Spec": _object("What is asked for.", {"replicas": _replicas("The desired number of replicas.")}),
    SCALE + "Status": _object(
        "What there is.",
        {
            "replicas": _replicas("The observed number of replicas."),
            "selector": _text("Selects the replicas, as a label selector in text form."),
        },
        ("replicas",),
    ),
}
