"""Asking an application as a client would, with JSON in and JSON out."""

import json
from typing import Any

import msgspec

from kcpctl.apiserver.exchange import Answer, Application, Incoming, User

ADMIN = User("admin", groups=("system:masters",))
MERGE = "application/merge-patch+json"


class Asked(msgspec.Struct):
    """One answer, read to its end."""

    status: int
    body: Any
    """The decoded JSON, or text."""
    warnings: list[str] = []

    @property
    def message(self) -> str:
        """What a Status says; the text where it is none."""
        return self.body["message"] if isinstance(self.body, dict) else self.body

    @property
    def causes(self) -> set[tuple[str, str]]:
        """The causes of a 422, as (field, message)."""
        return {(cause["field"], cause["message"]) for cause in self.body["details"]["causes"]}


class Client:
    """Somebody who asks one application."""

    def __init__(self, app: Application, *, prefix: str = "", user: User = ADMIN) -> None:
        self._app = app
        self._prefix = prefix
        self._user = user

    def at(self, prefix: str) -> "Client":
        """Return a client whose paths begin so."""
        return Client(self._app, prefix=prefix, user=self._user)

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Asked:
        """Return the answer."""
        answer = await self.open(method, path, body, **headers)
        raw = answer.body
        if not isinstance(raw, bytes):
            raw = b"".join([chunk async for chunk in raw])
        warnings = [value for name, value in answer.headers if name == "Warning"]
        try:
            return Asked(answer.status, json.loads(raw), warnings)
        except ValueError:
            return Asked(answer.status, raw.decode(), warnings)

    async def open(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Return the answer as it is; a stream must be closed."""
        path, _, query = path.partition("?")
        named = {"accept": "application/json", "content-type": "application/json"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        packed = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self._app(Incoming(method, self._prefix + path, query, named, packed, self._user))

    async def get(self, path: str, **headers: str) -> Asked:
        """GET."""
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: Any) -> Asked:
        """POST."""
        return await self.ask("POST", path, body)

    async def put(self, path: str, body: Any) -> Asked:
        """PUT."""
        return await self.ask("PUT", path, body)

    async def patch(self, path: str, body: Any) -> Asked:
        """PATCH, as a merge patch."""
        return await self.ask("PATCH", path, body, content_type=MERGE)

    async def delete(self, path: str, body: Any = None) -> Asked:
        """DELETE."""
        return await self.ask("DELETE", path, body)
