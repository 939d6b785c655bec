"""What a process that serves holds from its start to its end: its folder, its address, its certificates."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from informers.api.errors import ConfigurationError
from kcpctl.admintoken import kept_token
from kcpctl.apiserver.app import ApiServer, Observe
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.certs import Certificates, names_for
from kcpctl.apiserver.http.health import Health
from kcpctl.apiserver.http.server import serving
from kcpctl.apiserver.mounts import Mount
from kcpctl.contexts import ADMIN
from kcpctl.datadir import locked
from kcpctl.listening import Address, take_address
from kcpctl.metrics import Metrics
from kcpctl.settings import Common

_REQUESTS_END_WITHIN = 0.5
"""Seconds that requests in flight have when the process stops; watches end at once."""


@dataclass(frozen=True)
class Host:
    """A data directory that is ours, an address that is taken, and who may come in: certificates and a token."""

    folder: Path
    address: Address
    certificates: Certificates
    tls: ssl.SSLContext
    token: str
    """The administrator's."""


@asynccontextmanager
async def hosting(settings: Common, urls: Iterable[str] = ()) -> AsyncIterator[Host]:
    """Hold them for the block; the certificate is good for the hosts of these URLs as well.

    Raises `ConfigurationError` in one line for whatever cannot be had.
    """
    with locked(settings.data_dir) as folder:
        address = take_address(settings)
        with address.bound:
            names = names_for(settings.bind_address) | {host for url in urls if (host := urlsplit(url).hostname)}
            certificates, tls = await asyncio.to_thread(_certified, folder, names)
            yield Host(folder, address, certificates, tls, await asyncio.to_thread(kept_token, folder))


def _certified(folder: Path, names: frozenset[str]) -> tuple[Certificates, ssl.SSLContext]:
    try:
        certificates = Certificates(folder / "certificates", now=partial(datetime.now, UTC))
        return certificates, certificates.server_context(names)
    except OSError as error:
        raise ConfigurationError(
            f"expected to keep certificates in {folder}, but: {error.strerror}; name another directory with --data-dir"
        ) from error


def application(
    host: Host, mounts: Mapping[str, Mount], health: Health, observe: Observe, metrics: Metrics
) -> ApiServer:
    """Return the API server of these worlds; only those who prove who they are may do anything."""
    place = host.address.near.partition("://")[2]
    who = Authentication({host.token: ADMIN})
    return ApiServer(mounts, who, health=health, metrics=metrics.text, observe=observe, address=place)


@asynccontextmanager
async def answering(host: Host, app: ApiServer) -> AsyncIterator[None]:
    """Answer requests at the address for as long as the block runs."""
    address = host.address
    async with serving(app, host=address.host, tls=host.tls, grace=_REQUESTS_END_WITHIN, bound=address.bound):
        yield
