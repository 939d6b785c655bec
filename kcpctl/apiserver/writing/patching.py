"""Patch: the body says what to change."""

from typing import Any

import msgspec

from informers.api.status import Cause, StatusDetails
from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure, bad_request, failure, untyped
from kcpctl.apiserver.gotext import as_json, plain, quote
from kcpctl.apiserver.patches import jsonpatch, merge, strategic
from kcpctl.apiserver.patches.errors import DoesNotApply, Malformed, PatchError, TooLarge
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.shapes.reader import ShapeError, json_name
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import identity, jsontext, strict
from kcpctl.apiserver.writing.changing import change
from kcpctl.apiserver.writing.decoding import Text, Unreadable, check_size, coerce, kind_of, misfit
from kcpctl.apiserver.writing.options import APPLY, IGNORE, STRICT, WriteOptions, write_options
from kcpctl.apiserver.writing.subject import subject
from kcpctl.apiserver.writing.written import Written

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"


class Patch:
    """A decoded patch. Each look at its value is one of its own: what comes of a patch is made of it, and changed."""

    __slots__ = ("_first", "_text", "media", "problems")

    def __init__(self, media: str, value: Any, text: bytes, problems: tuple[str, ...] = ()) -> None:
        """Take the value and its JSON; `problems` is what a strict decoder says about the patch itself."""
        self.media = media
        self.problems = problems
        self._first = [value]
        self._text = text

    def value(self) -> Any:
        """Return the value, fresh."""
        return self._first.pop() if self._first else msgspec.json.decode(self._text)

    @property
    def has_nulls(self) -> bool:
        """Whether there may be nulls in it."""
        return b"null" in self._text


async def patch(world: World, call: Call) -> Written:
    """Change the object as the body says and return it; waits for the storage. Raises `Failure`."""
    check_media(call)
    check_size(call)
    options = write_options(call, "PatchOptions")
    found = await decoded(world, call)
    warnings: list[str] = []
    about = subject(world, call, options, warnings)

    def patched(current: bytes, old: JSON) -> JSON:
        # What is stored of custom resources is complete already, so that what follows changes nothing that is shared.
        may_share = call.served.is_custom and found.media == MERGE_PATCH
        obj: JSON = applied(call, found, old if may_share else msgspec.json.decode(current))
        try:
            problems = _coerced(world, call, options, obj)
        except Unreadable as error:
            raise _invalid(call, found, current, str(error)) from None
        except ShapeError as error:
            said = error.converted if found.media == STRATEGIC_MERGE_PATCH else str(error)
            raise _invalid(call, found, current, said) from None
        # The race may be run again, with another object.
        warnings[:] = [*found.problems, *problems] if options.field_validation != IGNORE else []
        if warnings and options.field_validation == STRICT:
            raise _invalid(call, found, current, f"strict decoding error: {', '.join(warnings)}")
        identity.settle_namespace(obj["metadata"], call.namespace)
        identity.check_name(obj["metadata"], call.name)
        call.served.strategy.default(obj)
        return obj

    return await change(about, patched)


def check_media(call: Call) -> None:
    """Refuse what is no patch (415); the router of the built-ins says so in other words."""
    media, is_custom = call.content_type, call.served.is_custom
    if media in (JSON_PATCH, MERGE_PATCH) or (media == STRATEGIC_MERGE_PATCH and not is_custom):
        return
    if media == APPLY:
        message = "server-side apply is not built yet; use a merge patch, or kubectl apply without --server-side"
        raise failure(501, "NotImplemented", message)
    if is_custom:
        listed = ", ".join((JSON_PATCH, MERGE_PATCH, APPLY))
        message = f"the body of the request was in an unknown format - accepted media types include: {listed}"
        raise failure(415, "UnsupportedMediaType", message)
    raise failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", StatusDetails())


async def decoded(world: World, call: Call) -> Patch:
    """Read the patch; waits for a thread if it is big. Raises `Failure` (400, 413)."""
    return await world.aside.do(len(call.body), lambda: _decoded(call))


def _decoded(call: Call) -> Patch:
    media = call.content_type
    prefix = "" if media == STRATEGIC_MERGE_PATCH else "error decoding patch: "
    try:
        read = jsontext.read(call.body)
        repeated = strict.problems(read.text) if read.has_duplicates else []
        if media == JSON_PATCH:
            unknown = jsonpatch.check(read.value)
            problems = (*(f"json patch {problem}" for problem in repeated), *unknown)
            return Patch(media, read.value, _text_of(read, call), problems)
        if not isinstance(read.value, dict | None):
            found = json_name(read.value)
            raise Malformed(f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}")
    except (jsontext.JsonError, Malformed) as error:
        raise bad_request(f"{prefix}{error}") from None
    except TooLarge as error:
        raise failure(413, "RequestEntityTooLarge", f"Request entity too large: {error}") from None
    if read.value is None and media == MERGE_PATCH:
        raise bad_request("Invalid JSON Patch")
    if read.value is None:
        return Patch(media, {}, b"{}")
    return Patch(media, read.value, _text_of(read, call), tuple(repeated))


def _text_of(read: jsontext.Read, call: Call) -> bytes:
    return call.body if read.is_plain else msgspec.json.encode(read.value)


def applied(call: Call, found: Patch, document: Any) -> Any:
    """Return the patched object, not looked at yet; raises `Failure`.

    The document is used up, unless a merge patch is applied: then both have the parts that it does not name.
    """
    try:
        if found.media == JSON_PATCH:
            return jsonpatch.apply(document, found.value())
        if found.media == MERGE_PATCH:
            return merge.merge(document, found.value(), nulls=found.has_nulls)
        return strategic.merge(document, found.value(), call.served.merge_keys or {})
    except DoesNotApply:
        message = "the server rejected our request due to an error in our request"
        raise failure(422, "Invalid", message, StatusDetails()) from None
    except Malformed as error:
        raise bad_request(str(error)) from None
    except PatchError as error:
        raise untyped(str(error)) from None


def _coerced(world: World, call: Call, options: WriteOptions, obj: Any) -> list[str]:
    """Make the patched object one of its type, in place, and return what a strict decoder says about it.

    Raises `Unreadable`, `ShapeError`.
    """
    api_version, kind = kind_of(Text(obj))
    served = call.served
    if served.is_custom:
        if not kind:
            raise Unreadable(f"Object 'Kind' is missing in '{as_json(obj)}'")
    elif why := misfit(call, world.catalog, api_version or served.api_version, kind or served.kind, obj):
        raise ShapeError(why)
    return coerce(served, obj, Text(None), options.field_validation)


def _invalid(call: Call, found: Patch, current: bytes, why: str) -> Failure:
    """422: what the patch makes of the object is none; the message shows it, or the patch if it is strategic."""
    strategic_patch = found.media == STRATEGIC_MERGE_PATCH
    shown = plain(found.value()) if strategic_patch else as_json(applied(call, found, msgspec.json.decode(current)))
    message = f"Invalid value: {quote(shown)}: {why}"
    details = StatusDetails(causes=[Cause("FieldValueInvalid", message, "patch")])
    return failure(422, "Invalid", f' "" is invalid: patch: {message}', details)
