"""The paths below `/openapi`: the index, the documents behind their hashes, and what is not served."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from email.utils import format_datetime

import msgspec

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import Answer
from kcpctl.apiserver.failures import path_not_found
from kcpctl.apiserver.http.discovery import Groups
from kcpctl.apiserver.http.negotiation import JSON, clauses
from kcpctl.apiserver.http.openapi.documents import Documents, digest
from kcpctl.apiserver.served import Served

_encode = msgspec.json.Encoder().encode
_AS_JSON = (("Content-Type", JSON),)
_YEAR = timedelta(days=365)
_V2 = "application/com.github.proto-openapi.spec.v2"
_EMPTY_V2 = b"\n\x032.0\x12\x0f\n\x06kcpctl\x12\x05v1.36B\x00"
"""swagger, info (title and version) and paths of a document that describes nothing, as protobuf."""


class OpenApi:
    """Answers `/openapi/v3`, `/openapi/v3/{group-version}` and `/openapi/v2`.

    Version 2 describes nothing: kubectl then merges changed objects without a schema, which custom resources need
    anyway. It has to be there all the same, since kubectl asks it about kinds that version 3 does not know, and says
    that there is no such kind only if it gets an answer.
    """

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        """Take the clock that dates answers; nothing is built before it is asked for."""
        self._documents = Documents()
        self._now = now

    async def __call__(
        self, segments: Sequence[str], groups: Groups, prefix: str, headers: Mapping[str, str], query: Query
    ) -> Answer:
        """Answer a GET below `/openapi` for a cluster that serves `groups`; raises `Failure` (404).

        `prefix` is what the request's path had in front, such as `/clusters/root`; redirections and links keep it.
        """
        if segments[1:2] == ("v2",) and len(segments) == 2:
            is_wanted = headers.get("accept", "").startswith(_V2)
            return Answer(200, (("Content-Type", f"{_V2}.v1.0+protobuf"),), _EMPTY_V2) if is_wanted else Answer(406)
        if segments[1:2] != ("v3",):
            raise path_not_found()
        if not _accepts_json(headers):
            return Answer(406)
        if len(segments) == 2:
            return _conditional(await self._index(groups, prefix), headers)
        return await self._document("/".join(segments[2:]), groups, prefix, headers, query)

    async def _index(self, groups: Groups, prefix: str) -> bytes:
        """Return the index: every group-version, with the URL of its document as it is now."""
        links = {}
        for group, versions in sorted(groups.items()):
            for version, kinds in sorted(versions.items()):
                path = _path(group, version)
                links[path] = {"serverRelativeURL": await self._url(path, kinds, prefix)}
        return _encode({"paths": links})

    async def _url(self, path: str, kinds: Sequence[Served], prefix: str) -> str:
        return f"{prefix}/openapi/v3/{path}?hash={(await self._documents.of(kinds)).hash}"

    async def _document(
        self, path: str, groups: Groups, prefix: str, headers: Mapping[str, str], query: Query
    ) -> Answer:
        kinds = next((k for g, vs in groups.items() for v, k in vs.items() if _path(g, v) == path), None)
        if kinds is None:
            return Answer(404)
        document = await self._documents.of(kinds)
        etag = (("ETag", f'"{document.hash}"'), ("Vary", "Accept"))
        asked = query.text("hash")
        if asked and asked != document.hash:
            url = await self._url(path, kinds, prefix)
            return Answer(301, (*_AS_JSON, *etag, ("Location", url)))
        if headers.get("if-none-match") == f'"{document.hash}"':
            return Answer(304, etag)
        return Answer(200, (*_AS_JSON, *etag, *(self._immutable() if asked else ())), document.body)

    def _immutable(self) -> tuple[tuple[str, str], ...]:
        expires = format_datetime(self._now() + _YEAR, usegmt=True)
        return ("Cache-Control", "public, immutable"), ("Expires", expires)


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _accepts_json(headers: Mapping[str, str]) -> bool:
    accept = headers.get("accept", "")
    return not accept or any(clause.covers(JSON) for clause in clauses(accept))


def _conditional(body: bytes, headers: Mapping[str, str]) -> Answer:
    etag = f'"{digest(body)}"'
    if headers.get("if-none-match") == etag:
        return Answer(304, (("ETag", etag),))
    return Answer(200, (*_AS_JSON, ("ETag", etag)), body)
