"""The proxy that the environment names for an address, by the rules that kubectl follows."""

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import urlsplit


def proxy_for(address: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return HTTPS_PROXY or HTTP_PROXY (also in lower case) by the address' scheme, unless NO_PROXY excepts its host.

    A host of this machine itself is always excepted.
    """
    url = urlsplit(address)
    host = url.hostname or ""
    found = _either(environment, f"{url.scheme}_proxy")
    if not found or _is_local(host):
        return None
    if any(_covers(rule.strip(), host, url.port) for rule in _either(environment, "no_proxy").split(",")):
        return None
    return found if "://" in found else f"http://{found}"


def _either(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name.upper()) or environment.get(name) or ""


def _covers(rule: str, host: str, port: int | None) -> bool:
    """Say whether one entry of NO_PROXY covers the host: a name with all below it, an address, a network, or `*`."""
    if rule == "*":
        return True
    address, network = _address(host), _network(rule)
    if network is not None:
        return address is not None and address in network
    name, _, only_port = rule.partition(":")
    if not name or (only_port and only_port != str(port)):
        return False
    name = name.lower().removeprefix("*")
    return host.endswith("." + name.lstrip(".")) or host == name  # `.a.b` covers what is below a.b, `a.b` itself too


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _network(rule: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(rule, strict=False)
    except ValueError:
        return None


def _is_local(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)
