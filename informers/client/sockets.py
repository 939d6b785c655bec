"""Sockets whose dead peers are noticed, also while nothing is sent."""

import socket

_OPTIONS = {
    "TCP_KEEPIDLE": 30,  # seconds of silence before the first probe
    "TCP_KEEPALIVE": 30,  # the same on macOS
    "TCP_KEEPINTVL": 30,  # seconds between probes
    "TCP_KEEPCNT": 3,  # probes without an answer that end the connection
}


def watched_socket(family: int, kind: int, protocol: int) -> socket.socket:
    """Return a socket that asks its silent peer for a sign of life; without one it breaks after two minutes.

    A watch may be silent for long; one behind a router that forgot it would be so for ever. Where the system knows an
    option by no name, its own default stays.
    """
    sock = socket.socket(family, kind, protocol)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS.items():
        number = getattr(socket, name, None)
        if number is not None:
            sock.setsockopt(socket.IPPROTO_TCP, number, value)
    return sock
