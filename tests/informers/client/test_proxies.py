import pytest

from informers.client.credentials import Anonymous
from informers.client.http import HttpTransport
from informers.client.proxies import proxy_for
from informers.client.transport import Request
from tests.informers.client.servers import always, answer, serving


@pytest.mark.parametrize(
    ("address", "environment", "proxy"),
    [
        ("https://a.example.com", {}, None),
        ("https://a.example.com", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://a.example.com", {"https_proxy": "p:1"}, "http://p:1"),
        ("https://a.example.com", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://a.example.com", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://localhost:6443", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://127.1.2.3:6443", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://[::1]:6443", {"HTTPS_PROXY": "http://p:1"}, None),
    ],
)
def test_the_scheme_chooses_the_proxy(address, environment, proxy):
    assert proxy_for(address, environment) == proxy


@pytest.mark.parametrize(
    ("rule", "excepted"),
    [
        ("*", True),
        ("example.com", True),
        (".example.com", True),
        ("*.example.com", True),
        ("a.example.com", True),
        ("A.Example.com", True),
        ("x, a.example.com:6443 ,y", True),
        ("a.example.com:443", False),
        ("ample.com", False),
        ("b.example.com", False),
        ("", False),
        (",", False),
        ("10.0.0.0/8", False),
    ],
)
def test_no_proxy_excepts_names_with_all_below_them(rule, excepted):
    found = proxy_for("https://a.example.com:6443", {"HTTPS_PROXY": "http://p:1", "no_proxy": rule})

    assert (found is None) == excepted


@pytest.mark.parametrize(("rule", "excepted"), [("10.0.0.0/8", True), ("10.1.2.3", True), ("10.2.0.0/16", False)])
def test_no_proxy_excepts_networks(rule, excepted):
    found = proxy_for("https://10.1.2.3:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": rule})

    assert (found is None) == excepted


async def test_requests_go_through_the_proxy():
    async with serving(always(answer(b"by proxy"))) as proxy:
        transport = HttpTransport("http://a.example.com:8080/x", credentials=Anonymous(), proxy=proxy.address)
        response = await transport.send(Request("GET", "/y?z=1"))
        assert [piece async for piece in response.chunks()] == [b"by proxy"]
        await response.aclose()
        await transport.aclose()

    assert proxy.asked[0].target == "http://a.example.com:8080/x/y?z=1"
