"""What goes wrong in aiohttp as errors of ours: the one place that knows both."""

from ssl import SSLError

import aiohttp

from informers.api.errors import (
    ConnectError,
    ConnectionRefused,
    DecodeError,
    Disconnected,
    InformersError,
    ReadTimeout,
)
from informers.client.transport import Timeouts

FAILURES = (aiohttp.ClientError, TimeoutError, OSError)
"""What aiohttp raises when a request fails."""


def unconnected(name: str, timeouts: Timeouts, *, busy: int) -> ConnectError:
    """Return the error for a request that got no connection in time; `busy` is how many others had all there are."""
    within = f"expected a connection to {name} within {timeouts.connect} s"
    return ConnectError(f"{within}, found all {busy} busy with other calls" if busy else f"{within}, found none")


def failure(error: Exception, name: str, timeouts: Timeouts) -> InformersError:
    """Return our error for one of `FAILURES`."""
    match error:
        case aiohttp.SocketTimeoutError():
            return ReadTimeout(f"expected bytes from {name} every {timeouts.idle} s, found silence")
        case TimeoutError():
            return ReadTimeout(f"expected the whole answer of {name} within {timeouts.total} s, found it unfinished")
        case aiohttp.ClientConnectorError():
            if isinstance(error.os_error, ConnectionRefusedError):
                return ConnectionRefused(f"expected a server at {name}, found that nobody listens there")
            return ConnectError(f"expected a connection to {name}, found: {_reason(error)}")
        case aiohttp.ClientSSLError() | aiohttp.ClientHttpProxyError():
            return ConnectError(f"expected a connection to {name}, found: {_reason(error)}")
        case aiohttp.ClientPayloadError() | aiohttp.ClientOSError() | aiohttp.ServerDisconnectedError() | OSError():
            return broken(error, name)
        case aiohttp.ClientResponseError():
            return DecodeError(f"expected HTTP from {name}, found: {_reason(error)}")
    return ConnectError(f"expected an answer from {name}, found: {_reason(error)}")


def broken(error: Exception, name: str) -> InformersError:
    """Return the error for a connection that did not hold."""
    if isinstance(error, SSLError) or isinstance(error.__cause__, SSLError):
        return ConnectError(f"expected {name} to accept our TLS credentials, found: {_reason(error)}")
    return Disconnected(f"expected a whole answer from {name}, found the connection broken: {_reason(error)}")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
