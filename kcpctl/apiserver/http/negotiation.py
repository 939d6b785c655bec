"""Content negotiation: which form of an answer the client accepts, and the words that refuse it.

The rules are those of kube-apiserver: clauses by weight, then by how exact they are, then as written; the first one
that can be produced wins.
"""

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from informers.api.status import StatusDetails
from kcpctl.apiserver.call import Query
from kcpctl.apiserver.failures import Failure, failure

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"

_META_GROUP = "meta.k8s.io"
_TRANSFORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_PRETTY_AGENTS = ("curl", "Wget", "Mozilla/5.0")
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_KEPT = 256
"""Accept headers whose outcome is remembered; clients send a handful of different ones."""


class Clause(msgspec.Struct, frozen=True):
    """One media range of an Accept header."""

    type: str
    weight: float = 1.0
    parameters: Mapping[str, str] = {}

    def covers(self, media: str) -> bool:
        """Whether the range includes the media type."""
        return self.type in (media, "*/*") or self.type == media.partition("/")[0] + "/*"


class Form(msgspec.Struct, frozen=True):
    """How an answer is to be written."""

    media: str = JSON
    transform: str = ""
    """Table, PartialObjectMetadata, PartialObjectMetadataList, or `""` for the object as it is."""
    version: str = "v1"
    """The version of meta.k8s.io that the transformed object is in."""
    pretty: bool = False

    @property
    def is_json(self) -> bool:
        """Whether the answer can be written piece by piece: JSON that is not indented."""
        return self.media == JSON and not self.pretty


@lru_cache(_KEPT)
def clauses(accept: str) -> tuple[Clause, ...]:
    """Read an Accept header, best clause first; what cannot be read is left out."""
    found = [_clause(text) for text in accept.split(",")]
    usable = [clause for clause in found if "/" in clause.type and clause.weight > 0]
    return tuple(sorted(usable, key=lambda clause: (-clause.weight, clause.type.count("*"))))


def _clause(text: str) -> Clause:
    media, *rest = (part.strip() for part in text.split(";"))
    parameters = {name.strip(): value.strip().strip('"') for name, _, value in (p.partition("=") for p in rest)}
    try:
        weight = float(parameters.pop("q", "1"))
    except ValueError:
        weight = 1.0
    return Clause(media.lower(), weight, parameters)


def form(headers: Mapping[str, str], query: Query, *, watch: bool = False) -> Form:
    """Return the form that the client wants an object, list or watch in; raises `Failure` (406)."""
    chosen = _choose(headers.get("accept", ""), watch)
    if chosen is None:
        raise unacceptable(headers.get("accept", ""), watch=watch)
    return msgspec.structs.replace(chosen, pretty=True) if not watch and _pretty(headers, query) else chosen


def plain_form(headers: Mapping[str, str], query: Query) -> Form:
    """Return the form for what has no transformations: failures, discovery; JSON where nothing fits."""
    accept = headers.get("accept", "")
    media = next((m for c in clauses(accept) for m in (JSON, YAML) if c.covers(m)), JSON)
    return Form(media, pretty=_pretty(headers, query))


@lru_cache(_KEPT)
def _choose(accept: str, watch: bool) -> Form | None:
    if not accept:
        return Form()
    for clause in clauses(accept):
        for media in (JSON,) if watch else (JSON, YAML):
            found = _offer(clause, media, watch) if clause.covers(media) else None
            if found is not None:
                return found
    return None


def _offer(clause: Clause, media: str, watch: bool) -> Form | None:
    parameters = clause.parameters
    if parameters.get("stream", "watch" if watch else "") != ("watch" if watch else ""):
        return None
    wanted = parameters.get("as", "")
    version = parameters.get("v", "v1")
    if wanted and (wanted not in _TRANSFORMS or parameters.get("g") != _META_GROUP or version not in ("v1", "v1beta1")):
        return None
    return Form(media, wanted, version if wanted else "v1", pretty=parameters.get("pretty") == "1")


def _pretty(headers: Mapping[str, str], query: Query) -> bool:
    if query.raw and "pretty" in query.raw:
        asked = query.text("pretty")
        if asked:
            return asked in _TRUE
    return headers.get("user-agent", "").startswith(_PRETTY_AGENTS)


def unacceptable(accept: str, *, watch: bool = False) -> Failure:
    """406: the words tell a range that no handler knows from a form that this one cannot produce."""
    if watch:
        return _refusal(f"{JSON};stream=watch, {PROTOBUF};stream=watch")
    ranges = clauses(accept)
    if any(clause.covers(PROTOBUF) and not clause.parameters for clause in ranges):
        return _refusal(f"{JSON}, {YAML}")  # protobuf is read, never written
    return _refusal(f"{JSON}, {YAML}, {PROTOBUF}")


def _refusal(types: str) -> Failure:
    return failure(406, "NotAcceptable", f"only the following media types are accepted: {types}")


def unknown_range(accept: str) -> Failure | None:
    """Return the refusal that built-in kinds give before their handler runs, when no range names a known type."""
    if not accept or any(clause.covers(media) for clause in clauses(accept) for media in (JSON, YAML, PROTOBUF)):
        return None
    message = f"406: Not Acceptable\n\nAvailable representations: {JSON}, {YAML}, {PROTOBUF}"
    return failure(406, "NotAcceptable", message, StatusDetails())


def not_a_list(transform: str, go_type: str) -> Failure:
    """406: a list form was asked of one object, named as kube-apiserver's code names it."""
    message = f"you requested {transform}, but the requested object is not a list ({go_type})"
    return failure(406, "NotAcceptable", message)
