"""An API server of a few lines behind the transport seam: enough of the rules for controllers to be judged by.

Its contract: a write that changes nothing keeps the resourceVersion and makes no event; a status patch changes nothing
but the status, any other write everything but it; uid and resourceVersion in a body are preconditions.
"""

import asyncio
import copy
import json
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

from multidict import CIMultiDict

from informers.api.errors import ConnectionRefused
from informers.api.patch import apply
from informers.client.addresses import Scope
from informers.client.server import Server
from informers.client.transport import Request
from tests.informers.runtime.objects import body

JSON = dict[str, Any]
_PATH = re.compile(
    r"(?:/services/cache/shards/(?P<shard>[^/]+))?(?:/clusters/(?P<cluster>[^/]+))?/apis/(?P<api>[^/]+/[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>status))?"
)


class Refused(Exception):
    """A failure as the server answers it."""

    def __init__(self, code: int, reason: str, name: str = "") -> None:
        super().__init__(reason)
        details = {"name": name} if name else {}
        self.code = code
        self.status = {"kind": "Status", "code": code, "reason": reason, "message": reason, "details": details}


class MemoryServer:
    """Keeps objects and their history; implements `Transport`."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, ...], JSON] = {}
        self.writes: list[tuple[str, str, Any]] = []
        """(method, path, body) of every request that was no read."""
        self.history: list[tuple[int, str, tuple[str, ...], JSON]] = []
        self.revision = 1
        self.down = False
        self.without_status: set[str] = set()
        """Plurals that have no status subresource."""
        self._news = asyncio.Event()
        self._cuts = 0

    # What tests do to it

    def put(self, name: str, plural: str = "teams", *, cluster: str = "", shard: str = "", **fields: Any) -> JSON:
        """Create or replace an object as somebody else would, and return it."""
        obj = body(name, **fields)
        notes = {k: v for k, v in (("kcp.io/cluster", cluster), ("kcp.io/shard", shard)) if v}
        if notes:
            obj["metadata"]["annotations"] = notes
        return self._store((plural, shard, cluster, obj["metadata"].get("namespace", ""), name), obj)

    def drop(self, name: str, plural: str = "teams", *, cluster: str = "", namespace: str = "default") -> None:
        """Delete an object."""
        key = (plural, "", cluster, namespace, name)
        self._happened("DELETED", key, self.objects.pop(key))

    def get(self, name: str, plural: str = "teams", *, cluster: str = "", namespace: str = "default") -> JSON:
        """Return an object."""
        return self.objects[(plural, "", cluster, namespace, name)]

    def cut(self) -> None:
        """End all watches."""
        self._cuts += 1
        self._tell()

    def server(self, name: str = "memory", *, scope: Scope = Scope.PLAIN) -> Server:
        """Return a Server that talks to it."""
        return Server(name, self, scope=scope)

    # Transport

    async def send(self, request: Request) -> "MemoryResponse":
        if self.down:
            raise ConnectionRefused("expected a server, found none")
        path, _, query = request.target.partition("?")
        options = {name: values[0] for name, values in parse_qs(query).items()}
        await asyncio.sleep(0)
        try:
            found = _PATH.fullmatch(path)
            if found is None:
                raise Refused(404, "NotFound")
            return self._answer(request, found.groupdict(default=""), options)
        except Refused as refused:
            return MemoryResponse(refused.code, refused.status)

    async def aclose(self) -> None:
        pass

    def _answer(self, request: Request, at: dict[str, str], options: dict[str, str]) -> "MemoryResponse":
        if request.method != "GET":
            sent = json.loads(request.body)
            self.writes.append((request.method, request.target.partition("?")[0], sent))
            return MemoryResponse(200, self._write(request, at, sent, options))
        if at["name"]:
            return MemoryResponse(200, self._named(at))
        if options.get("sendInitialEvents"):
            raise Refused(422, "Invalid")
        if options.get("watch"):
            return MemoryResponse(200, self._watch(at, int(options.get("resourceVersion") or self.revision)))
        items = [obj for key, obj in self.objects.items() if _within(key, at)]
        return MemoryResponse(
            200, {"kind": "List", "metadata": {"resourceVersion": str(self.revision)}, "items": items}
        )

    def _write(self, request: Request, at: dict[str, str], sent: JSON, options: dict[str, str]) -> JSON:
        if request.method == "POST":
            name, namespace = sent["metadata"]["name"], sent["metadata"].get("namespace", at["namespace"])
            return self._store((at["plural"], at["shard"], at["cluster"], namespace, name), sent)
        if at["sub"] and at["plural"] in self.without_status:
            raise Refused(404, "NotFound", at["name"])
        old = self._named(at)
        meta = sent.get("metadata", {})
        if meta.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
            raise Refused(409, "Conflict", at["name"])
        if meta.get("resourceVersion", old["metadata"]["resourceVersion"]) != old["metadata"]["resourceVersion"]:
            raise Refused(409, "Conflict", at["name"])
        new = apply(old, {name: value for name, value in sent.items() if (name == "status") == bool(at["sub"])})
        if "apply" in request.headers.get("Content-Type", request.headers.get("content-type", "")):
            _own(new, sent, options["fieldManager"], at["sub"])
        return self._store(_key(at), new)

    def _store(self, key: tuple[str, ...], obj: JSON) -> JSON:
        old = self.objects.get(key)
        obj = copy.deepcopy(obj)
        meta = obj["metadata"]
        meta.setdefault("uid", f"uid-{meta['name']}")
        if old is not None:
            meta["resourceVersion"] = old["metadata"]["resourceVersion"]
            meta["generation"] = old["metadata"]["generation"] + (obj.get("spec") != old.get("spec"))
            if obj == old:
                return old
        self.objects[key] = obj
        self._happened("ADDED" if old is None else "MODIFIED", key, obj)
        return obj

    def _happened(self, kind: str, key: tuple[str, ...], obj: JSON) -> None:
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        self.history.append((self.revision, kind, key, copy.deepcopy(obj)))
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _named(self, at: dict[str, str]) -> JSON:
        found = self.objects.get(_key(at))
        if found is None:
            raise Refused(404, "NotFound", at["name"])
        return found

    async def _watch(self, at: dict[str, str], since: int) -> AsyncIterator[bytes]:
        cuts = self._cuts
        while self._cuts == cuts:
            news = self._news
            lines = [
                json.dumps({"type": kind, "object": obj}).encode() + b"\n"
                for revision, kind, key, obj in self.history
                if revision > since and _within(key, at)
            ]
            since = self.revision
            if lines:
                yield b"".join(lines)
            else:
                await news.wait()


class MemoryResponse:
    """An answer: a JSON document, or a stream."""

    def __init__(self, status: int, content: JSON | AsyncIterator[bytes]) -> None:
        self.status = status
        self.headers: CIMultiDict[str] = CIMultiDict({"content-type": "application/json"})
        self._content = content

    async def chunks(self) -> AsyncIterator[bytes]:
        if isinstance(self._content, dict):
            yield json.dumps(self._content).encode()
            return
        async for chunk in self._content:
            yield chunk

    async def aclose(self) -> None:
        pass


def _key(at: dict[str, str]) -> tuple[str, ...]:
    return (at["plural"], at["shard"], at["cluster"], at["namespace"], at["name"])


def _within(key: tuple[str, ...], at: dict[str, str]) -> bool:
    plural, shard, cluster, namespace, _ = key
    return (
        plural == at["plural"]
        and at["shard"] in (shard, "*")
        and at["cluster"] in (cluster, "*")
        and at["namespace"] in (namespace, "")
    )


def _own(obj: JSON, sent: JSON, manager: str, subresource: str) -> None:
    """Write down what the manager applied: its status, or its labels; lists are atomic."""

    def fields(value: Any) -> JSON:
        return {f"f:{name}": fields(inner) for name, inner in value.items()} if isinstance(value, dict) else {}

    own = {"status": sent["status"]} if subresource else {"metadata": {"labels": sent["metadata"].get("labels", {})}}
    entry = {"manager": manager, "operation": "Apply", "subresource": subresource, "fieldsV1": fields(own)}
    others = [
        other
        for other in obj["metadata"].get("managedFields", [])
        if (other["manager"], other["subresource"]) != (manager, subresource)
    ]
    obj["metadata"] = {**obj["metadata"], "managedFields": [*others, entry]}
