"""Shard registration: this process' own Shard exists, with its URLs and labels, at its own shard."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from controllers.kinds import SHARDS, Shard
from controllers.names import ROOT
from informers.api.errors import AlreadyExists, NotFound
from informers.api.objects import Key, Object
from informers.client.client import Client
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.result import Result


class ShardUrls(msgspec.Struct, frozen=True):
    """Where a shard is reached."""

    base: str
    """By other shards."""
    external: str
    """By users."""
    virtual_workspaces: str
    """What published URLs begin with."""


@dataclass(frozen=True)
class Registration:
    """Keeps one Shard: its URLs and labels are ours, what others added to it stays, also when it is made anew."""

    name: str
    urls: ShardUrls
    labels: Mapping[str, str] = field(default_factory=dict)
    _added: dict[str, dict[str, str]] = field(default_factory=dict)

    async def register(self, client: Client) -> None:
        """Create the Shard unless it is there, for the controller to compare; the client is one over all clusters."""
        root = client.cluster(ROOT)
        try:
            await root.get(SHARDS, self.name)
        except NotFound:
            with suppress(AlreadyExists):
                await root.create(SHARDS, self._body())

    async def reconcile(self, obj: Object[Shard], cluster: Cluster) -> Result | None:
        """Say what the Shard should be; other Shards stored here are not ours."""
        if not self._is_ours(obj.key):
            return None
        metadata = obj.metadata
        self._added["labels"] = dict(metadata.labels or {})
        self._added["annotations"] = {
            key: value for key, value in (metadata.annotations or {}).items() if not key.startswith("kcp.io/")
        }
        return Result(fields={"metadata": {"labels": self._own_labels()}, "spec": self._spec()})

    async def gone(self, key: Key, cluster: Cluster) -> Result | None:
        """Make the Shard again, with all labels and annotations that it had."""
        if self._is_ours(key):
            await self.register(cluster.client)
        return None

    def is_right(self, obj: Object[Any]) -> bool:
        """Say whether a Shard is as it should be; one of ours that is not will be made right in a moment."""
        labels, spec = self._own_labels().items(), self._spec().items()
        return not self._is_ours(obj.key) or (
            all(obj.labels.get(key) == value for key, value in labels)
            and all(obj.at("spec", key, default=None) == value for key, value in spec)
        )

    def _is_ours(self, key: Key) -> bool:
        return (key.cluster, key.name) == (ROOT, self.name)

    def _own_labels(self) -> dict[str, str]:
        return {"name": self.name, **self.labels}

    def _spec(self) -> dict[str, str]:
        return {
            "baseURL": self.urls.base,
            "externalURL": self.urls.external,
            "virtualWorkspaceURL": self.urls.virtual_workspaces,
        }

    def _body(self) -> dict[str, object]:
        return {
            "apiVersion": SHARDS.api_version,
            "kind": SHARDS.kind,
            "metadata": {
                "name": self.name,
                "labels": {**self._added.get("labels", {}), **self._own_labels()},
                "annotations": self._added.get("annotations", {}),
            },
            "spec": self._spec(),
        }


def anything(obj: Object[Any]) -> bool:
    """Say that an object is right, where nobody knows how it should be."""
    return True


def shard_registration(registration: Registration) -> Controller[Shard]:
    """Return the controller that keeps the Shard as registered."""
    return controller(SHARDS, name="shard-registration", gone=registration.gone)(registration.reconcile)
