"""The address is taken first; what is wrong with it names the flag to change."""

import socket

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.listening import Address, take_address
from kcpctl.settings import ServeSettings


def test_a_taken_port_is_one_line_that_names_the_flag() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}: the port is taken; name another with --port"):
            take_address(ServeSettings(port=port))


@pytest.mark.parametrize("address", ["192.0.2.1", "no-such-host.invalid", "a..b"])
def test_an_address_that_cannot_be_had_names_the_flag(address: str) -> None:
    with pytest.raises(ConfigurationError, match=f"found {address} port 0: .*; name others with --bind-address"):
        take_address(ServeSettings(port=0, bind_address=address))


def test_a_free_port_is_known_before_anything_is_served() -> None:
    address = take_address(ServeSettings(port=0))

    with address.bound:
        assert address.port > 0
        assert address.near == address.far == f"https://127.0.0.1:{address.port}"


@pytest.mark.parametrize(
    ("host", "near", "far"),
    [
        ("0.0.0.0", "https://127.0.0.1:7", f"https://{socket.gethostname()}:7"),
        ("::", "https://[::1]:7", f"https://{socket.gethostname()}:7"),
        ("::1", "https://[::1]:7", "https://[::1]:7"),
        ("shard.example.com", "https://shard.example.com:7", "https://shard.example.com:7"),
    ],
)
def test_urls_lead_from_here_and_from_elsewhere(host: str, near: str, far: str) -> None:
    with socket.socket() as unused:
        address = Address(unused, host, 7)

        assert (address.near, address.far) == (near, far)
