"""CustomResourceDefinition and what it is made of."""

from kcpctl.apiserver.shapes.fields import (
    ALWAYS,
    UNLESS_ABSENT,
    Field,
    Holds,
    Kind,
    Message,
    many,
    message_map,
    one,
    scalar,
    text,
    texts,
)
from kcpctl.apiserver.shapes.meta import top

SCHEMA = Message("JSONSchemaProps")
"""Contains itself; its fields are set below."""

_SCHEMA_OR_LIST = Message(
    "JSONSchemaPropsOrArray",
    (one("schema", 1, SCHEMA, UNLESS_ABSENT), many("jSONSchemas", 2, SCHEMA)),
    union=True,
)
_SCHEMA_OR_FLAG = Message(
    "JSONSchemaPropsOrBool",
    (one("schema", 2, SCHEMA, UNLESS_ABSENT), scalar("allows", 1, Kind.FLAG, ALWAYS)),
    union=True,
)
_SCHEMA_OR_TEXTS = Message(
    "JSONSchemaPropsOrStringArray",
    (one("schema", 1, SCHEMA, UNLESS_ABSENT), texts("property", 2)),
    union=True,
)
_VALIDATION_RULE = Message(
    "ValidationRule",
    (
        text("rule", 1, ALWAYS),
        text("message", 2),
        text("messageExpression", 3),
        text("reason", 4, UNLESS_ABSENT, go_type="v1.FieldValueErrorReason"),
        text("fieldPath", 5),
        scalar("optionalOldSelf", 6, Kind.FLAG, UNLESS_ABSENT),
    ),
)


def _free(name: str, number: int) -> Field:
    return scalar(name, number, Kind.FREE, UNLESS_ABSENT)


def _limit(name: str, number: int, kind: Kind = Kind.INT64) -> Field:
    return scalar(name, number, kind, UNLESS_ABSENT)


def _flag(name: str, number: int) -> Field:
    return scalar(name, number, Kind.FLAG)


SCHEMA.define(
    text("id", 1),
    text("$schema", 2, go_type="v1.JSONSchemaURL"),
    text("$ref", 3, UNLESS_ABSENT),
    text("description", 4),
    text("type", 5),
    text("format", 6),
    text("title", 7),
    _free("default", 8),
    _limit("maximum", 9, Kind.DOUBLE),
    _flag("exclusiveMaximum", 10),
    _limit("minimum", 11, Kind.DOUBLE),
    _flag("exclusiveMinimum", 12),
    _limit("maxLength", 13),
    _limit("minLength", 14),
    text("pattern", 15),
    _limit("maxItems", 16),
    _limit("minItems", 17),
    _flag("uniqueItems", 18),
    _limit("multipleOf", 19, Kind.DOUBLE),
    Field("enum", 20, Kind.FREE, Holds.LIST, go_type="v1.JSON"),
    _limit("maxProperties", 21),
    _limit("minProperties", 22),
    texts("required", 23),
    one("items", 24, _SCHEMA_OR_LIST, UNLESS_ABSENT),
    many("allOf", 25, SCHEMA),
    many("oneOf", 26, SCHEMA),
    many("anyOf", 27, SCHEMA),
    one("not", 28, SCHEMA, UNLESS_ABSENT),
    message_map("properties", 29, SCHEMA),
    one("additionalProperties", 30, _SCHEMA_OR_FLAG, UNLESS_ABSENT),
    message_map("patternProperties", 31, SCHEMA),
    message_map("dependencies", 32, _SCHEMA_OR_TEXTS),
    one("additionalItems", 33, _SCHEMA_OR_FLAG, UNLESS_ABSENT),
    message_map("definitions", 34, SCHEMA),
    one("externalDocs", 35, Message("ExternalDocumentation", (text("description", 1), text("url", 2))), UNLESS_ABSENT),
    _free("example", 36),
    _flag("nullable", 37),
    scalar("x-kubernetes-preserve-unknown-fields", 38, Kind.FLAG, UNLESS_ABSENT),
    _flag("x-kubernetes-embedded-resource", 39),
    _flag("x-kubernetes-int-or-string", 40),
    texts("x-kubernetes-list-map-keys", 41),
    text("x-kubernetes-list-type", 42, UNLESS_ABSENT),
    text("x-kubernetes-map-type", 43, UNLESS_ABSENT),
    many("x-kubernetes-validations", 44, _VALIDATION_RULE, merge_key="rule"),
)

NAMES = Message(
    "CustomResourceDefinitionNames",
    (
        text("plural", 1, ALWAYS),
        text("singular", 2),
        texts("shortNames", 3),
        text("kind", 4, ALWAYS),
        text("listKind", 5),
        texts("categories", 6),
    ),
)
_COLUMN = Message(
    "CustomResourceColumnDefinition",
    (
        text("name", 1, ALWAYS),
        text("type", 2, ALWAYS),
        text("format", 3),
        text("description", 4),
        scalar("priority", 5, Kind.INT32),
        text("jsonPath", 6, ALWAYS),
    ),
)
_SCALE = Message(
    "CustomResourceSubresourceScale",
    (
        text("specReplicasPath", 1, ALWAYS),
        text("statusReplicasPath", 2, ALWAYS),
        text("labelSelectorPath", 3, UNLESS_ABSENT),
    ),
)
_SUBRESOURCES = Message(
    "CustomResourceSubresources",
    (
        one("status", 1, Message("CustomResourceSubresourceStatus"), UNLESS_ABSENT),
        one("scale", 2, _SCALE, UNLESS_ABSENT),
    ),
)
_VERSION = Message(
    "CustomResourceDefinitionVersion",
    (
        text("name", 1, ALWAYS),
        scalar("served", 2, Kind.FLAG, ALWAYS),
        scalar("storage", 3, Kind.FLAG, ALWAYS),
        scalar("deprecated", 7, Kind.FLAG),
        text("deprecationWarning", 8, UNLESS_ABSENT),
        one(
            "schema",
            4,
            Message("CustomResourceValidation", (one("openAPIV3Schema", 1, SCHEMA, UNLESS_ABSENT),)),
            UNLESS_ABSENT,
        ),
        one("subresources", 5, _SUBRESOURCES, UNLESS_ABSENT),
        many("additionalPrinterColumns", 6, _COLUMN),
        many("selectableFields", 9, Message("SelectableField", (text("jsonPath", 1, ALWAYS),))),
    ),
)
_CLIENT_CONFIG = Message(
    "WebhookClientConfig",
    (
        text("url", 3, UNLESS_ABSENT),
        one(
            "service",
            1,
            Message(
                "ServiceReference",
                (
                    text("namespace", 1, ALWAYS),
                    text("name", 2, ALWAYS),
                    text("path", 3, UNLESS_ABSENT),
                    scalar("port", 4, Kind.INT32, UNLESS_ABSENT),
                ),
            ),
            UNLESS_ABSENT,
        ),
        scalar("caBundle", 2, Kind.BYTES),
    ),
)
_CONVERSION = Message(
    "CustomResourceConversion",
    (
        text("strategy", 1, ALWAYS, go_type="v1.ConversionStrategyType"),
        one(
            "webhook",
            2,
            Message(
                "WebhookConversion",
                (
                    one("clientConfig", 2, _CLIENT_CONFIG, UNLESS_ABSENT),
                    texts("conversionReviewVersions", 3, printed=ALWAYS),
                ),
            ),
            UNLESS_ABSENT,
        ),
    ),
)
_CONDITION = Message(
    "CustomResourceDefinitionCondition",
    (
        text("type", 1, ALWAYS, go_type="v1.CustomResourceDefinitionConditionType"),
        text("status", 2, ALWAYS, go_type="v1.ConditionStatus"),
        scalar("lastTransitionTime", 3, Kind.TIME, ALWAYS),
        text("reason", 4),
        text("message", 5),
        scalar("observedGeneration", 6, Kind.INT64),
    ),
)

SPEC = Message(
    "CustomResourceDefinitionSpec",
    (
        text("group", 1, ALWAYS),
        one("names", 3, NAMES),
        text("scope", 4, ALWAYS, go_type="v1.ResourceScope"),
        many("versions", 7, _VERSION, printed=ALWAYS),
        one("conversion", 9, _CONVERSION, UNLESS_ABSENT),
        scalar("preserveUnknownFields", 10, Kind.FLAG),
    ),
)
CUSTOM_RESOURCE_DEFINITION = top(
    "CustomResourceDefinition",
    one("spec", 2, SPEC),
    one(
        "status",
        3,
        Message(
            "CustomResourceDefinitionStatus",
            (
                many("conditions", 1, _CONDITION, printed=ALWAYS),
                one("acceptedNames", 2, NAMES),
                texts("storedVersions", 3, printed=ALWAYS),
                scalar("observedGeneration", 4, Kind.INT64),
            ),
        ),
    ),
)
