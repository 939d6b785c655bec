"""What operators ask a running process about shards and replication, by the names under which it answers."""

from typing import Any, cast

import msgspec

from controllers.names import CACHE
from informers.api.errors import ConfigurationError
from informers.clock import Clock
from informers.runtime.manager import Manager
from kcpctl.builtin import Ours
from kcpctl.control import JSON, Answers
from kcpctl.drift import Adopted
from kcpctl.effects import going_at_home
from kcpctl.forgetting import Forgetter
from kcpctl.listing import listed
from kcpctl.operating import ADOPT, DRIFT, FORGET_EXPORT, PRUNE, REMOVE_SHARD, SHARDS
from kcpctl.recording import Recorder
from kcpctl.removing import Remover
from kcpctl.replicating import Replication


def operations(manager: Manager, ours: Ours | None, clock: Clock, *, cache_kubeconfig: str = "") -> Answers:
    """Return what a process answers; one without our controllers says so, whatever is asked.

    `cache_kubeconfig` is the file by which people reach the cache server.
    """
    names = (SHARDS, REMOVE_SHARD, FORGET_EXPORT, DRIFT, ADOPT, PRUNE)
    if ours is None:
        return dict.fromkeys(names, _without_ours)
    found = _Operations(manager, ours, clock, cache_kubeconfig)
    every = (found.shards, found.remove_shard, found.forget_export, found.drift, found.adopt, found.prune)
    return dict(zip(names, every, strict=True))


async def _without_ours(_: JSON) -> JSON:
    raise ConfigurationError(
        "expected a process that runs our own controllers, found one that runs others only; name the --data-dir of "
        "a process that `kcpctl run` started without controllers, or with --with-builtin"
    )


class _Operations:
    """Answers as values."""

    def __init__(self, manager: Manager, ours: Ours, clock: Clock, cache_kubeconfig: str) -> None:
        self._manager = manager
        self._ours = ours
        self._clock = clock
        recorder = Recorder(manager.servers[CACHE], ours.removals, clock, cache_kubeconfig)
        self._remover = Remover(manager, ours.view, ours.lives, recorder)
        self._forgetter = Forgetter(manager, ours.view, ours.lives, recorder, clock)
        self._replication = Replication(manager, ours.view, ours.segment) if ours.segment else None

    async def shards(self, _: JSON) -> JSON:
        return _values(listed(self._ours.view, self._ours.lives, self._clock.now()))

    async def remove_shard(self, question: JSON) -> JSON:
        return _values(
            await self._remover.remove(
                str(question["name"]), force=bool(question["force"]), former=bool(question.get("former"))
            )
        )

    async def forget_export(self, question: JSON) -> JSON:
        return _values(await self._forgetter.forget(str(question["cluster"]), str(question["name"])))

    async def drift(self, _: JSON) -> JSON:
        return _values(await self._replicating().drift(self._clock.now()))

    async def adopt(self, _: JSON) -> JSON:
        if self._replication is not None:
            return _values(await self._replication.adopt())
        view = self._ours.view
        goes = going_at_home(self._manager, view)
        return _values(Adopted(view.local_is_doubted, await view.adopt_local(), 0, goes.objects, [], goes.endpoints))

    async def prune(self, question: JSON) -> JSON:
        return _values(await self._replicating().prune(for_good=bool(question["for_good"])))

    def _replicating(self) -> Replication:
        if self._replication is None:
            raise ConfigurationError(
                "expected a process that replicates its shard, found one whose shard does that itself "
                "(--slice-controller force)"
            )
        return self._replication


def _values(answer: Any) -> JSON:
    return cast("JSON", msgspec.to_builtins(answer))
