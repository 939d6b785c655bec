"""Writes on their way: sent to one place, and told to who notes them."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from informers.api.decoding import Reader
from informers.api.errors import ConfigurationError
from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.client.addresses import Place
from informers.client.answers import is_status, whole
from informers.client.calls import Calls
from informers.client.heeding import warnings_in
from informers.client.hints import explaining
from informers.client.records import Write
from informers.client.transport import Response
from informers.client.writing import Sending

T = TypeVar("T")


class Writer(msgspec.Struct, frozen=True):
    """Sends writes, to one logical cluster only, and tells of each that was accepted; dry runs are none."""

    calls: Calls
    place: Place
    told: Callable[[Write], None] | None

    async def write(self, resource: Resource[T], sending: Sending) -> Object[T]:
        """Return the object as it is since."""
        body, warnings = await self.send(resource, sending)
        written = self._read(resource, body)
        self._tell(resource, sending, written.key, written, warnings)
        return written

    async def delete(self, resource: Resource[T], name: str, sending: Sending, *, namespace: str) -> Object[T] | None:
        """Return the object as it is since, None if only its going was confirmed."""
        body, warnings = await self.send(resource, sending)
        found = None if is_status(body) else self._read(resource, body)
        key = found.key if found else Key(self.place.shard, self.place.cluster, namespace, name)
        self._tell(resource, sending, key, found, warnings)
        return found

    async def send(self, resource: Resource[Any], sending: Sending) -> tuple[bytes, tuple[str, ...]]:
        """Return the body of the answer, and what the server warns of; nobody is told."""
        refuse_wild(self.place, sending.verb)
        request = self.calls.request(sending.method, self.place, sending.target, body=sending.body, media=sending.media)
        with explaining(resource, sending.method, sending.target):
            return await self.calls.fetch(request, _with_warnings)

    def _read(self, resource: Resource[T], body: bytes) -> Object[T]:
        return Reader(resource, cluster=self.place.cluster, shard=self.place.shard).object(body)

    def _tell(
        self,
        resource: Resource[Any],
        sending: Sending,
        key: Key,
        written: Object[Any] | None,
        warnings: tuple[str, ...],
    ) -> None:
        if self.told is not None and not sending.dry_run:
            rv, uid = (written.rv, written.uid) if written else ("", "")
            self.told(Write(resource, key, rv, uid, sending.verb, warnings))


def refuse_wild(place: Place, verb: str) -> None:
    """Raise `ConfigurationError` where a write would go to no one cluster."""
    if place.is_wild:
        raise ConfigurationError(
            f"expected one logical cluster to {verb} in, found '*'; use client.cluster(name), and .shard(name) "
            "on a cache server"
        )


async def _with_warnings(response: Response) -> tuple[bytes, tuple[str, ...]]:
    return await whole(response), tuple(warnings_in(response.headers))
