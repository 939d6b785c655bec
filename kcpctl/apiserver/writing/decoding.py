"""From the body of a request to the object that it stands for."""

from typing import Any, TypeAlias

import msgspec

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure, bad_request, failure
from kcpctl.apiserver.protobuf import envelope
from kcpctl.apiserver.protobuf.wire import WireError
from kcpctl.apiserver.served import JSON, Catalog, Served
from kcpctl.apiserver.shapes.meta import OBJECT_META
from kcpctl.apiserver.shapes.plainmeta import plain_metadata
from kcpctl.apiserver.shapes.reader import ShapeError, json_name
from kcpctl.apiserver.shapes.reader import read as read_shape
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import jsontext, strict, yamltext
from kcpctl.apiserver.writing.options import IGNORE, STRICT

LARGEST_BODY = 3 * 1024 * 1024
_SLOWER = 4
"""How much longer YAML and protobuf take to read than JSON."""

JSON_TYPE = "application/json"
YAML_TYPE = "application/yaml"
PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf"

_TYPES = (JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE)
_UNSAID = ("", "application/octet-stream")
"""No Content-Type means JSON; the second is what an HTTP library makes of a missing one."""
_NO_KIND = "couldn't get version/kind; json parse error"
_HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


class Unreadable(ValueError):
    """A body whose kind cannot be found out; the message is the decoder's."""


class Text(msgspec.Struct, frozen=True):
    """A body's value, and what a strict decoder has to say about its keys."""

    value: Any
    json: str = ""
    """The body as JSON where keys may be duplicated; `""` where they cannot."""
    said: str = ""
    """What YAML says twice, as one strict error."""


Source: TypeAlias = Text | envelope.Envelope
"""A body opened far enough to see its kind."""


def media_type(call: Call, allowed: tuple[str, ...] = _TYPES) -> str:
    """Return the body's media type; raises `Failure` (415)."""
    found = JSON_TYPE if call.content_type in _UNSAID else call.content_type
    if found not in allowed:
        listed = ", ".join(allowed)
        message = f"the body of the request was in an unknown format - accepted media types include: {listed}"
        raise failure(415, "UnsupportedMediaType", message)
    return found


def check_size(call: Call) -> None:
    """Refuse bodies over 3 MiB (413)."""
    if len(call.body) > LARGEST_BODY:
        message = f"Request entity too large: limit is {LARGEST_BODY}"
        raise failure(413, "RequestEntityTooLarge", message)


async def decode(world: World, call: Call, validation: str) -> tuple[JSON, list[str]]:
    """Return the object of a create or update, coerced to its type and completed, and the warnings that it earns.

    Waits for a thread if the body is big. Raises `Failure`: 413, 415, and 400 for what is not such an object.
    """
    media = media_type(call, _TYPES[:2] if call.served.is_custom else _TYPES)
    check_size(call)

    def job() -> tuple[JSON, list[str]]:
        obj, warnings = _decoded(call, media, world.catalog, validation)
        call.served.strategy.default(obj)
        return obj, warnings

    return await world.aside.do(effort(call), job)


def effort(call: Call) -> int:
    """Return the size of the body as `Aside` understands it."""
    return len(call.body) * (1 if call.content_type not in (YAML_TYPE, PROTOBUF_TYPE) else _SLOWER)


def _decoded(call: Call, media: str, catalog: Catalog, validation: str) -> tuple[JSON, list[str]]:
    served = call.served
    try:
        source = opened(call.body, media)
        api_version, kind = kind_of(source)
    except (Unreadable, yamltext.YamlError, WireError) as error:
        raise _unrecognized(served, str(error), call.body) from None
    if served.is_custom and not kind:
        missing = f"Object 'Kind' is missing in '{call.body.decode(errors='replace')}'"
        raise _unrecognized(served, missing, call.body)
    if not served.is_custom:
        api_version, kind = api_version or served.api_version, kind or served.kind
    version = api_version.rpartition("/")[2]
    try:
        obj = _value(source)
        if why := misfit(call, catalog, api_version, kind, obj):
            raise _unhandled(served, kind, version, why)
        problems = coerce(served, obj, source if isinstance(source, Text) else None, validation)
    except (ShapeError, WireError) as error:
        raise _unhandled(served, kind, version, str(error)) from None
    if problems and validation == STRICT:
        raise _unhandled(served, kind, version, f"strict decoding error: {', '.join(problems)}")
    if api_version != served.api_version:
        raise wrong_version(served, api_version)
    return obj, [line for problem in problems for line in _lines(problem)]


def opened(body: bytes, media: str) -> Source:
    """Open a body as its media type says; raises `Unreadable`, `YamlError`, `WireError`."""
    if media == PROTOBUF_TYPE:
        return envelope.open_envelope(body)
    if media == YAML_TYPE:
        found = yamltext.read(body)
        return Text(found.value, said=found.problem)
    try:
        text = jsontext.read(body)
    except jsontext.JsonError as error:
        raise Unreadable(f"{_NO_KIND}: {error}") from None
    return Text(text.value, text.text if text.has_duplicates else "")


def coerce(served: Served, obj: JSON, text: Text | None, validation: str) -> list[str]:
    """Make the object one of its type, in place, and return what a strict decoder says about it.

    Raises `ShapeError`.
    """
    unknown = custom_metadata(obj) if served.is_custom else []
    unknown += served.strategy.coerce(obj)
    if validation == IGNORE or text is None:
        return []
    said = [text.said] if text.said else []
    if text.json:
        return said + strict.problems(text.json, unknown, typed=not served.is_custom)
    return said + [strict.unknown_field(path) for path in unknown[: strict.MOST]]


def custom_metadata(obj: JSON) -> list[str]:
    """Read a custom resource's metadata, in place; return the paths of unknown fields. Raises `ShapeError`."""
    found = obj.get("metadata")
    if found is None:
        obj["metadata"] = {}
        return []
    if not isinstance(found, dict):
        raise ShapeError(f"json: cannot unmarshal {json_name(found)} into Go value of type v1.ObjectMeta")
    if (plain := plain_metadata(found)) is not None:
        obj["metadata"] = plain
        return []
    obj["metadata"], unknown = read_shape(OBJECT_META, found)
    return [f"metadata.{path}" for path in unknown]


def kind_of(source: Source) -> tuple[str, str]:
    """Return apiVersion and kind, `""` where the body has none; raises `Unreadable`."""
    if isinstance(source, envelope.Envelope):
        return source.api_version, source.kind
    value = source.value
    problem = f"{_NO_KIND}: json: cannot unmarshal "
    if value is None:
        return "", ""
    if not isinstance(value, dict):
        raise Unreadable(f"{problem}{json_name(value)} into Go value of type {_HEAD}")
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field) or "", str):
            raise Unreadable(f"{problem}{json_name(value[field])} into Go struct field .{field} of type string")
    api_version = value.get("apiVersion") or ""
    if api_version.count("/") > 1:
        raise Unreadable(f"unexpected GroupVersion string: {api_version}")
    return api_version, value.get("kind") or ""


def wrong_version(served: Served, found: str) -> Failure:
    """400: the object is of another version than the path."""
    return bad_request(
        f"the API version in the data ({found}) does not match the expected API version ({served.api_version})"
    )


def _value(source: Source) -> JSON:
    if isinstance(source, Text):
        value: JSON = source.value or {}
        return value
    shape = envelope.shape_of(source.api_version, source.kind)
    if shape is None:
        raise WireError("its protobuf encoding is not known here; send JSON")
    return envelope.content(source, shape)


def misfit(call: Call, catalog: Catalog, api_version: str, kind: str, obj: JSON) -> str:
    """Return why an object of that kind is none of the call's built-in kind; `""` if it is, in whatever version.

    An object of another kind is read as what it says it is first, and may fail at that.
    """
    served = call.served
    if served.is_custom or (api_version, kind) == (served.api_version, served.kind):
        return ""
    built_in = (s for s in catalog.served(call.scope.cluster) if not s.is_custom)
    found = next((s for s in built_in if (s.api_version, s.kind) == (api_version, kind)), None)
    if found is None:
        scheme = "pkg/api/legacyscheme/scheme.go:30"
        return f'no kind "{kind}" is registered for version "{api_version}" in scheme "{scheme}"'
    if found.prefix == served.prefix:
        return ""
    try:
        found.strategy.coerce(dict(obj))
    except ShapeError as error:
        return str(error)
    package = served.group.partition(".")[0] or "core"
    return f"converting ({found.version}.{kind}) to ({package}.{served.kind}): unknown conversion"


def _unhandled(served: Served, kind: str, version: str, why: str) -> Failure:
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {served.kind}: {why}')


def _unrecognized(served: Served, why: str, body: bytes) -> Failure:
    return bad_request(f"the object provided is unrecognized (must be of type {served.kind}): {why} ({_summary(body)})")


def _summary(body: bytes, limit: int = 30) -> str:
    if not body:
        return "<empty>"
    shown = body[:limit].decode("utf-8", "replace") if body.startswith(b"{") else body[:limit].hex()
    return shown + (" ..." if len(body) > limit else "")


def _lines(problem: str) -> list[str]:
    """Split what YAML says twice into its lines; everything else is one."""
    rest = problem.removeprefix("yaml: unmarshal errors:\n")
    return [problem] if rest == problem else [line.strip() for line in rest.split("\n")]
