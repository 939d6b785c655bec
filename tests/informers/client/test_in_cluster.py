import pytest

from informers.api.errors import ConfigurationError
from informers.client.in_cluster import in_cluster, service_account
from informers.client.kubeconfig import load
from informers.client.tls import RECHECK
from informers.clock import VirtualClock
from tests.informers.client.certificates import Authority

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_bytes(Authority("first").pem)
    (tmp_path / "namespace").write_text("n1\n")
    return tmp_path


async def test_a_pod_finds_its_server_and_itself(folder):
    found = in_cluster(POD, folder)

    assert (found.address, found.namespace) == ("https://10.0.0.1:443", "n1")
    assert await found.credentials.headers() == {"Authorization": "Bearer first"}
    assert (await found.credentials.ssl_context()).check_hostname


def test_an_ipv6_address_is_put_in_brackets(folder):
    assert in_cluster({**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, folder).address == "https://[fd00::1]:443"


async def test_a_rotated_token_and_authority_are_followed(folder):
    clock = VirtualClock()
    credentials = service_account(folder, clock=clock)
    first = await credentials.ssl_context()
    await credentials.headers()

    (folder / "token").write_text("second\n")
    (folder / "ca.crt").write_bytes(Authority("second").pem)
    await clock.advance(RECHECK)

    assert await credentials.headers() == {"Authorization": "Bearer second"}
    assert await credentials.ssl_context() is not first


def test_outside_of_a_pod_it_says_so(folder):
    with pytest.raises(ConfigurationError, match="expected KUBERNETES_SERVICE_HOST"):
        in_cluster({}, folder)


def test_a_pod_without_a_token_is_explained(tmp_path):
    with pytest.raises(ConfigurationError, match=r"token, found no such file; .*automountServiceAccountToken"):
        in_cluster(POD, tmp_path)


def test_the_pod_is_looked_at_where_no_kubeconfig_is_named():
    with pytest.raises(ConfigurationError, match="serviceaccount/token"):
        load(environment=POD)
