"""The address that a process serves at: taken before anything else, and what it is called from outside."""

import socket
from dataclasses import dataclass
from ipaddress import ip_address

from informers.api.errors import ConfigurationError
from kcpctl.apiserver.http.server import PortTaken, bind
from kcpctl.settings import Common


@dataclass(frozen=True)
class Address:
    """A socket that is taken, and the URLs that lead to it."""

    bound: socket.socket
    host: str
    """The address to listen on, as it was asked for."""
    port: int

    @property
    def near(self) -> str:
        """The URL for whoever is on this machine, such as `https://127.0.0.1:6443`."""
        return _url(_LOOPBACK.get(self.host, self.host), self.port)

    @property
    def far(self) -> str:
        """The URL for other machines: by this machine's name where it listens on all addresses."""
        return _url(socket.gethostname() if self.host in _LOOPBACK else self.host, self.port)


_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def take_address(settings: Common) -> Address:
    """Take the address and port that the settings name.

    Raises `ConfigurationError` in one line that names the flag to change.
    """
    host = settings.bind_address
    try:
        bound = bind(host, settings.port)
    except PortTaken as error:
        raise ConfigurationError(f"{error.strerror}; name another with --port (0 picks a free one)") from error
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(
            f"expected an address to listen on, found {host} port {settings.port}: {reason}; "
            "name others with --bind-address and --port"
        ) from error
    return Address(bound, host, bound.getsockname()[1])


def _url(host: str, port: int) -> str:
    try:
        is_v6 = ip_address(host).version == 6
    except ValueError:  # a host name
        is_v6 = False
    return f"https://[{host}]:{port}" if is_v6 else f"https://{host}:{port}"
