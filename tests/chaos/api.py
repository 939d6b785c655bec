"""Talking to servers as their administrator does: JSON over TLS, with the certificates of a kubeconfig.

Deliberately without the framework's client: what judges the product shares no code with it.
"""

import base64
import json
import ssl
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import yaml

JSON = dict[str, Any]

MERGE = "application/merge-patch+json"
_PATIENCE = 10.0


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, method: str, path: str, status: int, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {message}")
        self.status = status


class Api:
    """One server, also over its restarts: connections are kept, and one that broke is not used again."""

    def __init__(self, kubeconfig: Path) -> None:
        """Take address and certificates from the kubeconfig's first cluster and user."""
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.address = "/".join(cluster["server"].split("/")[:3])
        self._tls = _context(cluster, user)
        self._session: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def call(self, method: str, path: str, body: Any = None, *, media: str = "application/json") -> Any:
        """Return the JSON of the answer; raises `Refused`, or aiohttp's errors where nobody answers."""
        data = None if body is None else json.dumps(body).encode()
        timeout = aiohttp.ClientTimeout(total=_PATIENCE)
        async with self._opened().request(
            method, self.address + path, data=data, headers={"content-type": media}, timeout=timeout
        ) as answer:
            found = await answer.json(content_type=None)
            if answer.status >= 400:
                raise Refused(method, path, answer.status, str(found.get("message", found)))
            return found

    async def lines(self, path: str) -> AsyncIterator[JSON]:
        """Yield the events of a watch until it ends; raises `Refused`, or aiohttp's errors."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_PATIENCE)
        async with self._opened().get(self.address + path, timeout=timeout) as answer:
            if answer.status >= 400:
                raise Refused("GET", path, answer.status, await answer.text())
            rest = b""
            async for chunk in answer.content.iter_any():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    yield json.loads(line)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(ssl=self._tls, limit=0)
            self._session = aiohttp.ClientSession(connector=connector)
        return self._session


def _context(cluster: JSON, user: JSON) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]).decode())
    with tempfile.TemporaryDirectory() as folder:
        pair = Path(folder) / "pair.pem"
        pair.write_bytes(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
        context.load_cert_chain(pair)
    return context


def _decoded(text: str) -> bytes:
    return base64.b64decode(text)
