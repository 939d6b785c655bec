"""Requests to a server under test, with the credentials of one of its kubeconfigs."""

import base64
import json
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
import yaml

Body = dict[str, Any]


class Refused(Exception):
    """An answer that is no success."""


class Meta(msgspec.Struct, rename="camel"):
    """What is read of an object's metadata."""

    name: str = ""
    resource_version: str = ""
    annotations: dict[str, str] = {}


class Head(msgspec.Struct):
    """What is read of an object: a large one need not be taken apart to be counted."""

    metadata: Meta


class _Line(msgspec.Struct):
    type: str
    object: Head


class Event(NamedTuple):
    """One line of a watch."""

    kind: str
    """ADDED, MODIFIED or DELETED."""
    meta: Meta
    line: bytes


_line = msgspec.json.Decoder(_Line)


class Api:
    """Requests below one prefix of a server's paths, such as a workspace."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        """Ask at that URL."""
        self._session = session
        self._server = server

    def at(self, prefix: str) -> "Api":
        """Return the same server below another prefix, such as `/clusters/root`."""
        return Api(self._session, "/".join(self._server.split("/")[:3]) + prefix)

    async def send(self, method: str, path: str, body: Body | None = None) -> bytes:
        """Send a request and return the answer's body, unread: what reading costs is not the server's affair.

        Raises `Refused`.
        """
        headers = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
        async with self._session.request(method, self._server + path, json=body, headers=headers) as answer:
            found = await answer.read()
            if answer.status >= 300:
                raise Refused(f"{method} {path}: expected success, found {answer.status}: {found[:200]!r}")
            return found

    async def read(self, path: str) -> Any:
        """Return what is there as JSON; raises `Refused`."""
        return json.loads(await self.send("GET", path))

    async def revision(self, path: str) -> str:
        """Return the newest revision of the store that keeps this collection."""
        return str((await self.read(f"{path}?limit=1"))["metadata"]["resourceVersion"])

    async def watch(self, path: str, revision: str, *, seconds: int = 600) -> AsyncIterator[Event]:
        """Yield what happens to a collection after a revision, for so many seconds; raises `Refused`."""
        query = {"watch": "true", "resourceVersion": revision, "timeoutSeconds": str(seconds)}
        async with self._session.get(self._server + path, params=query) as answer:
            if answer.status != 200:
                raise Refused(f"watching {path}: expected 200, found {answer.status}: {await answer.text()}")
            rest = b""
            async for chunk in answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield _event(path, line)


def _event(path: str, line: bytes) -> Event:
    found = _line.decode(line)
    if found.type == "ERROR":
        raise Refused(f"watching {path}: {line[:200]!r}")
    return Event(found.type, found.object.metadata, line)


@asynccontextmanager
async def connected(kubeconfig: Path, *, limit: int = 0) -> AsyncIterator[Api]:
    """Give the server of the kubeconfig's current context, over at most so many connections; 0 is any number."""
    server, headers, trust = _access(kubeconfig)
    connector = aiohttp.TCPConnector(ssl=trust, limit=limit)
    patience = aiohttp.ClientTimeout(total=None, sock_connect=10)
    async with aiohttp.ClientSession(connector=connector, headers=headers, timeout=patience) as session:
        yield Api(session, server)


def _access(kubeconfig: Path) -> tuple[str, dict[str, str], ssl.SSLContext]:
    """Return server, headers and TLS settings of a kubeconfig's current context."""
    config = yaml.safe_load(kubeconfig.read_text())
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    trust = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
    if "client-certificate-data" in user:
        with tempfile.NamedTemporaryFile("w") as pair:
            pair.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            pair.flush()
            trust.load_cert_chain(pair.name)
    headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
    return cluster["server"], headers, trust


def _named(entries: list[Body], name: str) -> Body:
    return next(entry for entry in entries if entry["name"] == name)


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()
