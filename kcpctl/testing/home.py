"""How far a server in this process has come, as only its own process can know."""

from collections.abc import Callable
from typing import Any

from informers.api.resources import Collection
from kcpctl.apiserver.storage.base import Change
from kcpctl.apiserver.world import World


class Home:
    """A server in this process, as whoever waits for quiet sees it.

    Invariant: a change counts from the moment when clients can see it, before any watch tells of it. Changes from
    before this was made do not count: whoever lists later has seen them.
    """

    def __init__(self, world: World, at_rest: Callable[[], bool] = lambda: True) -> None:
        """Listen to the world's store; `at_rest` says whether the server has nothing left to do by itself."""
        self.world = world
        self._at_rest = at_rest
        self._revisions: dict[str, int] = {}
        world.storage.listen("/registry/", self._heard)

    @property
    def at_rest(self) -> bool:
        """Whether the server has nothing left to do by itself, such as establishing a definition."""
        return self._at_rest()

    def newest(self, collection: Collection[Any]) -> int:
        """Return the revision of the last change of any object of that kind; 0 when there was none."""
        resource = collection.resource
        served = self.world.catalog.find(collection.cluster, resource.group, resource.version, resource.plural)
        return 0 if served is None else self._revisions.get(served.prefix, 0)

    def _heard(self, change: Change) -> None:
        _, root, group, plural, _ = change.key.split("/", 4)
        self._revisions[f"/{root}/{group}/{plural}/"] = change.revision
