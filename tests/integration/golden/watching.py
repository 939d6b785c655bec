"""What watches show: the objects as they are now, those of a recording and those at our own servers."""

import json
from collections.abc import Mapping

import msgspec

from controllers.copies import HOLDER
from informers.client.transport import Request, Response, Timeouts
from tests.integration.golden.likeness import CLUSTER
from tests.integration.objects import JSON

_UNLIMITED = Timeouts(connect=None, idle=None, total=None)
_NOUNS = {
    "APIExport": "export",
    "APIExportEndpointSlice": "slice",
    "Partition": "partition",
    "Shard": "shard",
}


class Happening(msgspec.Struct, frozen=True):
    """One event of one object."""

    type: str
    name: str
    obj: JSON


class Shown:
    """The objects that a watch has told of, by what tables call them."""

    def __init__(self, places: Mapping[str, str], *, copies: bool = False) -> None:
        """Begin without any; `places` says which workspace a logical cluster belongs to."""
        self.copies = copies
        self.objects: dict[str, JSON] = {}
        self.events: dict[str, list[str]] = {}
        """The types of all events of each object, in their order."""
        self._places = places

    def put(self, obj: JSON) -> str:
        """Take in an object that was listed, and return its name."""
        name = name_of(obj, self._places, copy=self.copies)
        self.objects[name] = obj
        return name

    def take(self, event: JSON) -> Happening | None:
        """Take in an event; a bookmark is none, nor is the renewal of a lease."""
        if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
            return None
        if event["type"] == "MODIFIED" and self._is_renewal(event["object"]):
            return None
        name = self.put(event["object"])
        if event["type"] == "DELETED":
            del self.objects[name]
        self.events.setdefault(name, []).append(event["type"])
        return Happening(event["type"], name, event["object"])

    def _is_renewal(self, obj: JSON) -> bool:
        before = self.objects.get(name_of(obj, self._places, copy=self.copies))
        return before is not None and HOLDER in obj["metadata"].get("annotations", {}) and _bare(before) == _bare(obj)


class Watched(Shown):
    """A watch at our own server; `follow` has to run beside."""

    def __init__(self, response: Response, places: Mapping[str, str], *, copies: bool) -> None:
        """Take the answer to a watch."""
        super().__init__(places, copies=copies)
        self._response = response

    async def follow(self) -> None:
        """Take in all events until the watch ends."""
        rest = b""
        async for chunk in self._response.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self.take(json.loads(line))


class Pair(msgspec.Struct, frozen=True):
    """One watch of a recording, and the same watch at our server."""

    theirs: Shown
    ours: Watched


def _bare(obj: JSON) -> JSON:
    """Return a Shard's copy without what each renewal changes."""
    metadata = {
        name: value for name, value in obj["metadata"].items() if name not in ("resourceVersion", "managedFields")
    }
    metadata["annotations"] = metadata.get("annotations", {}) | {HOLDER: ""}
    return obj | {"metadata": metadata}


def watch_request(path: str) -> Request:
    """Return the request of a watch without an end."""
    return Request("GET", path, {"Accept": "application/json"}, timeouts=_UNLIMITED, watch=True)


def name_of(obj: JSON, places: Mapping[str, str], *, copy: bool = False) -> str:
    """Return what tables call an object."""
    metadata = obj["metadata"]
    cluster = (metadata.get("annotations") or {}).get(CLUSTER, "")
    name = f"{_NOUNS[obj['kind']]} {places.get(cluster, cluster)}/{metadata['name']}"
    return f"copy of {name}" if copy else name
