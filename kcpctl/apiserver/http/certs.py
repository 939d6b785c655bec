"""The certificates of one data directory: an authority of its own, kept, and what it has signed."""

import ssl
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname

import msgspec

from informers.api.errors import ConfigurationError
from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.http.keypair import KeyPair
from kcpctl.apiserver.http.privatefiles import write_private

_ALWAYS = ("localhost", "127.0.0.1", "::1")
_KUBERNETES = tuple("kubernetes" + tail for tail in ("", ".default", ".default.svc", ".default.svc.cluster.local"))
_AUTHORITY_LIFE = timedelta(days=3650)
_LEAF_LIFE = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=60)
_BACKDATED = timedelta(hours=1)
"""Certificates are valid a little before they are made: clocks differ."""


class _Issued(msgspec.Struct, frozen=True):
    """What a file holds, so that it can be judged without parsing X.509 (and importing what that takes)."""

    until: datetime
    holder: list[str] = []


def names_for(bind_address: str) -> frozenset[str]:
    """Return the host names and addresses that a server bound there is reached by."""
    try:
        everywhere = ip_address(bind_address).is_unspecified
    except ValueError:  # a host name
        everywhere = False
    return frozenset((*_ALWAYS, *_KUBERNETES, gethostname() if everywhere else bind_address))


class Certificates:
    """Signs and keeps certificates in one directory: `<label>.crt` and `<label>.key`, the authority's label being `ca`.

    Every file has mode 0600. What is kept is used until it is near its end, is for somebody else, or was signed by
    another authority; then a new one takes its place.
    """

    def __init__(self, directory: Path, *, now: Callable[[], datetime]) -> None:
        """Use the directory, which is made when missing; `now` gives an aware datetime."""
        self._directory = directory
        self._now = now
        self._record = directory / "issued.json"
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._issued = self._read_record()
        self._authority = self._kept("ca", []) or self._new_authority()

    @property
    def authority(self) -> bytes:
        """The authority's certificate (PEM), which clients and servers trust."""
        return self._authority.certificate

    def server(self, names: Collection[str], *, label: str = "server") -> KeyPair:
        """Return a certificate for a server that is reached by these names."""
        holder = sorted(names)
        kept = self._kept(label, holder)
        if kept is not None:
            return kept
        from kcpctl.apiserver.http.issuing import for_server  # costs 40 ms, and only the first start needs it

        start, end = self._span(_LEAF_LIFE)
        return self._keep(label, holder, end, for_server(self._authority, holder, start, end))

    def client(self, label: str, user: User) -> KeyPair:
        """Return a certificate for a client that is this user, in these groups."""
        holder = [user.name, *user.groups]
        kept = self._kept(label, holder)
        if kept is not None:
            return kept
        from kcpctl.apiserver.http.issuing import for_client  # as above

        start, end = self._span(_LEAF_LIFE)
        return self._keep(label, holder, end, for_client(self._authority, user, start, end))

    def server_context(self, names: Collection[str], *, clients_of: Iterable[bytes] = ()) -> ssl.SSLContext:
        """Return the TLS settings of a server: client certificates are asked for, but not required.

        Those of our authority and of `clients_of` (PEM) count. Raises `ConfigurationError` on unusable files.
        """
        self.server(names)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_OPTIONAL
        try:
            context.load_cert_chain(self._path("server", "crt"), self._path("server", "key"))
            for trusted in (self.authority, *clients_of):
                context.load_verify_locations(cadata=trusted.decode("ascii"))
        except (ssl.SSLError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"expected usable certificates in {self._directory}, found damaged ones ({error});"
                " delete that folder to have new ones made"
            ) from error
        return context

    def _new_authority(self) -> KeyPair:
        from kcpctl.apiserver.http.issuing import new_authority  # as above

        self._issued = {}  # nothing that an earlier authority signed is worth anything now
        start, end = self._span(_AUTHORITY_LIFE)
        return self._keep("ca", [], end, new_authority(f"kcpctl-ca@{int(start.timestamp())}", start, end))

    def _span(self, life: timedelta) -> tuple[datetime, datetime]:
        now = self._now()
        return now - _BACKDATED, now + life

    def _kept(self, label: str, holder: list[str]) -> KeyPair | None:
        issued = self._issued.get(label)
        if issued is None or issued.holder != holder or issued.until - self._now() < _RENEW_BEFORE:
            return None
        try:
            return KeyPair(self._path(label, "crt").read_bytes(), self._path(label, "key").read_bytes())
        except FileNotFoundError:
            return None

    def _keep(self, label: str, holder: list[str], until: datetime, pair: KeyPair) -> KeyPair:
        write_private(self._path(label, "key"), pair.key)
        write_private(self._path(label, "crt"), pair.certificate)
        self._issued[label] = _Issued(until, holder)
        write_private(self._record, msgspec.json.encode(self._issued))
        return pair

    def _path(self, label: str, kind: str) -> Path:
        return self._directory / f"{label}.{kind}"

    def _read_record(self) -> dict[str, _Issued]:
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=dict[str, _Issued])
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError as error:
            raise ConfigurationError(
                f"expected the list of issued certificates in {self._record}, found something else ({error});"
                f" delete {self._directory} to have new ones made"
            ) from error
