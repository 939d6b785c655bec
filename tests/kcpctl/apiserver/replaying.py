"""Asking our server what was asked of a real one, in the same order."""

import json
import re
from collections.abc import Mapping
from typing import Any

from informers.client.transport import Request, Timeouts, Transport
from informers.clock import VirtualClock

_UNLIMITED = Timeouts(connect=None, idle=None, total=None)
_REVISION_IN_QUERY = re.compile(r"(?<=resourceVersion=)\d+")
_REVISION_IN_BODY = re.compile(r'(?<="resourceVersion": ")\d+(?=")')


class Replay:
    """Replays recorded requests, and learns from the answers what our server calls the same things.

    uids, revisions and continue tokens of the recording are replaced by ours in later requests.
    """

    def __init__(self, transport: Transport, clock: VirtualClock) -> None:
        """Ask through the transport; time passes as answers need it."""
        self._transport = transport
        self._clock = clock
        self._names: dict[str, str] = {}
        self._revisions: dict[str, str] = {}

    async def answer(self, pair: Mapping[str, Any]) -> dict[str, Any]:
        """Return our answer to a pair's request, in the form of its `resp`."""
        asked = pair["req"]
        body = asked.get("body")
        if isinstance(body, (dict, list)):
            body = _REVISION_IN_BODY.sub(self._revision, json.dumps(body))
        headers = {"User-Agent": "golden/1.0", "Accept": "application/json"} | (asked.get("headers") or {})
        if asked.get("token"):
            headers["Authorization"] = f"Bearer {asked['token']}"
        target = self._renamed(_REVISION_IN_QUERY.sub(self._revision, asked["path"]))
        request = Request(asked["method"], target, headers, self._renamed(body or "").encode(), _UNLIMITED)
        found = await self._clock.run(self._ask(request, streamed="events" in pair["resp"]))
        self._learn(pair["resp"].get("body"), found.get("body"))
        return found

    async def _ask(self, request: Request, *, streamed: bool) -> dict[str, Any]:
        response = await self._transport.send(request)
        raw = b"".join([chunk async for chunk in response.chunks()])
        answer: dict[str, Any] = {
            "status": response.status,
            "headers": {name.lower(): value for name, value in response.headers.items()},
            "warnings": response.headers.getall("Warning", []),
        }
        text = raw.decode()
        if request.method == "HEAD":
            text = ""
        if streamed:
            return answer | {"events": [_event(line) for line in text.splitlines(keepends=True)]}
        return answer | {"body": _parsed(text)}

    def _revision(self, found: re.Match[str]) -> str:
        return self._revisions.get(found[0], found[0])

    def _renamed(self, text: str) -> str:
        for recorded, ours in self._names.items():
            text = text.replace(recorded, ours)
        return text

    def _learn(self, recorded: Any, ours: Any, key: str = "") -> None:
        if isinstance(recorded, dict) and isinstance(ours, dict):
            for name in recorded.keys() & ours.keys():
                self._learn(recorded[name], ours[name], name)
        elif isinstance(recorded, list) and isinstance(ours, list):
            for one, other in zip(recorded, ours, strict=False):
                self._learn(one, other)
        elif isinstance(recorded, str) and isinstance(ours, str) and recorded and ours:
            if key == "resourceVersion":
                self._revisions[recorded] = ours
            elif key in ("uid", "continue"):
                self._names[recorded] = ours


def _event(line: str) -> dict[str, Any]:
    found = _parsed(line)
    return found if isinstance(found, dict) else {"_raw": line[:200]}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
