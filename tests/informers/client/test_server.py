import json
import subprocess
import sys

import pytest

from informers.api.errors import ConfigurationError, DecodeError
from informers.client.addresses import Scope
from informers.client.server import Server, scoped
from tests.informers.client.servers import always, answer, connected


@pytest.mark.parametrize(
    ("address", "origin", "prefix", "scope"),
    [
        ("https://h:6443", "https://h:6443", "", Scope.PLAIN),
        ("https://h:6443/", "https://h:6443", "", Scope.PLAIN),
        ("https://h/k8s/x", "https://h", "/k8s/x", Scope.PLAIN),
        ("https://h/clusters/*", "https://h", "", Scope.ALL),
        ("https://h/a/clusters/*/", "https://h", "/a", Scope.ALL),
        ("https://h/clusters/root:org", "https://h", "/clusters/root:org", Scope.ONE),
        ("https://h/services/cache", "https://h", "", Scope.CACHE),
        ("https://h/services/cache/shards/*/clusters/*", "https://h", "", Scope.CACHE),
    ],
)
def test_an_address_says_how_its_server_separates_clusters(address, origin, prefix, scope):
    assert scoped(address) == (origin, prefix, scope)


@pytest.mark.parametrize(
    ("path", "target"),
    [("", "/version"), ("/clusters/*", "/version"), ("/clusters/x", "/clusters/x/version"), ("/a", "/a/version")],
)
async def test_the_version_is_asked_for_outside_of_clusters(path, target):
    async with connected(always(answer(json.dumps({"gitVersion": "v1.34.0"}).encode())), path) as (served, server):
        assert await server.version() == {"gitVersion": "v1.34.0"}
        assert served.asked[0].target == target


async def test_a_version_that_is_none_is_a_decode_error():
    async with connected(always(answer(b"[]"))) as (_, server):
        with pytest.raises(DecodeError, match="expected an object from /version"):
            await server.version()


async def test_a_client_takes_its_place_along():
    async with connected(always(answer(b'{"metadata":{"name":"x"}}')), "/services/cache") as (served, server):
        client = server.client("root", "amber")
        await client.raw("GET", "/api")
        await client.cluster("*").raw("GET", "/api")
        await client.shard("*").raw("GET", "/api")

    places = ["shards/amber/clusters/root", "shards/amber/clusters/*", "shards/*/clusters/root"]
    assert [asked.target for asked in served.asked] == [f"/services/cache/{place}/api" for place in places]


def test_a_scope_that_is_given_goes_before_the_address():
    """The address in a cache server's own kubeconfig has no path."""
    assert Server.from_address("https://h:6443", scope=Scope.CACHE).scope is Scope.CACHE


@pytest.mark.parametrize("address", ["https://[::1", "nonsense", "ftp://h", ""])
def test_an_address_of_no_use_is_explained(address):
    with pytest.raises(ConfigurationError, match="expected a server"):
        Server.from_address(address)


def test_a_server_in_the_same_process_does_not_cost_an_http_client():
    code = "import sys, informers.client.server; sys.exit('aiohttp' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_server_is_named_after_its_host_by_default():
    assert Server.from_address("https://h:6443/clusters/x").name == "h:6443"
