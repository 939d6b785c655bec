"""Credentials from a program that the kubeconfig names (ExecCredential, v1 and v1beta1)."""

import ssl
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import msgspec

from informers.api.errors import ConfigurationError
from informers.client.credentials import NO_HEADERS, bearer
from informers.client.programs import Program, output
from informers.client.renewing import SYSTEM_CLOCK, Renewal, Renewing, before
from informers.client.tls import SYSTEM_TLS, Pair, Tls
from informers.clock import Clock

GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")


class Interaction(StrEnum):
    """Whether a plugin talks to whoever sits at the terminal."""

    NEVER = "Never"
    IF_AVAILABLE = "IfAvailable"
    ALWAYS = "Always"


class Plugin(msgspec.Struct, frozen=True):
    """A plugin as the kubeconfig declares it."""

    command: str
    """A path, or a name to look up in PATH."""
    api_version: str = VERSIONS[0]
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    interaction: Interaction = Interaction.IF_AVAILABLE
    install_hint: str = ""
    cluster: Mapping[str, Any] | None = None
    """What the plugin is told of the cluster (`provideClusterInfo`); None tells nothing."""
    timeout: float = 60.0
    """Seconds for one run; five times as long where somebody at a terminal may be asked."""


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _Credential(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: _Status | None = None


class _Known(msgspec.Struct, frozen=True):
    headers: Mapping[str, str]
    pair: Pair | None


_decode = msgspec.json.Decoder(_Credential).decode


def at_terminal() -> bool:
    """Say whether somebody sits at our stdin."""
    return sys.stdin is not None and sys.stdin.isatty()


class ExecPlugin:
    """Whoever the plugin's token or certificate says; run again shortly before that expires, or when it is refused."""

    def __init__(
        self,
        plugin: Plugin,
        tls: Tls = SYSTEM_TLS,
        *,
        clock: Clock = SYSTEM_CLOCK,
        terminal: Callable[[], bool] = at_terminal,
    ) -> None:
        """Take what to run, and the TLS settings that show its certificate."""
        self._plugin = plugin
        self._tls = tls
        self._clock = clock
        self._terminal = terminal
        self._known = Renewing(self._renew, clock)

    @property
    def expires_at(self) -> datetime | None:
        """When the plugin said that its answer expires."""
        return self._known.expires_at

    async def headers(self) -> Mapping[str, str]:
        """Return the Authorization header, if the plugin gives a token; may wait for the plugin."""
        return (await self._known.get()).headers

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context, with the plugin's certificate if it gives one; may wait for the plugin."""
        return await self._tls.context((await self._known.get()).pair)

    def invalidate(self) -> None:
        """Run the plugin again at the next use."""
        self._known.invalidate()
        self._tls.invalidate()

    async def aclose(self) -> None:
        """Kill the plugin if it runs."""
        await self._known.aclose()
        await self._tls.aclose()

    async def _renew(self) -> Renewal[_Known]:
        plugin = self._plugin
        try:
            status = _read(plugin, await output(_program(plugin, self._interactive())))
        except ConfigurationError as error:
            hint = f"; {plugin.install_hint}" if plugin.install_hint else ""
            raise ConfigurationError(f"no credentials from the exec plugin: {error}{hint}") from error
        known = _Known(bearer(status.token) if status.token else NO_HEADERS, _pair(status))
        expires_at, now = status.expiration_timestamp, self._clock.now()
        if expires_at is None:
            return Renewal(known)
        if expires_at <= now:
            return Renewal(known, renew_in=1.0)  # by our clock, which may be wrong: let the server say
        return Renewal(known, before(expires_at, now), expires_at)

    def _interactive(self) -> bool:
        terminal = self._terminal()
        if self._plugin.interaction is Interaction.ALWAYS and not terminal:
            raise ConfigurationError(f"expected a terminal, which {self._plugin.command!r} must have, found none")
        return terminal and self._plugin.interaction is not Interaction.NEVER


def _program(plugin: Plugin, interactive: bool) -> Program:
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.cluster is not None:
        spec["cluster"] = plugin.cluster
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return Program(
        plugin.command,
        plugin.arguments,
        {**plugin.environment, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()},
        interactive,
        plugin.timeout * 5 if interactive else plugin.timeout,
    )


def _read(plugin: Plugin, stdout: bytes) -> _Status:
    """Return what the plugin says; secrets in what it says wrongly are not repeated."""
    try:
        found = _decode(stdout)
    except msgspec.DecodeError as error:
        raise ConfigurationError(
            f"expected an ExecCredential in JSON from {plugin.command!r}, found {len(stdout)} bytes of something else: "
            f"{error}"
        ) from error
    if (found.kind, found.api_version) != ("ExecCredential", plugin.api_version):
        raise ConfigurationError(
            f"expected an ExecCredential of {plugin.api_version} from {plugin.command!r}, "
            f"found a {found.kind} of {found.api_version}"
        )
    status = found.status or _Status()
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise ConfigurationError(
            f"expected a client certificate with its key from {plugin.command!r}, found one of them"
        )
    if not (status.token or status.client_certificate_data):
        raise ConfigurationError(f"expected a token or a client certificate from {plugin.command!r}, found neither")
    return status


def _pair(status: _Status) -> Pair | None:
    if status.client_certificate_data is None or status.client_key_data is None:
        return None
    return Pair(status.client_certificate_data.encode(), status.client_key_data.encode())
