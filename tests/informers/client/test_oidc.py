import base64
import json
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.errors import ConfigurationError, ConnectError
from informers.client.oidc import Issuer, Oidc, expiry
from informers.client.tls import Pem, Trust
from informers.clock import VirtualClock
from informers.tasks import background
from tests.informers.client.certificates import Authority
from tests.informers.client.servers import answer, serving


def coded(claims):
    return base64.urlsafe_b64encode(json.dumps(claims, ensure_ascii=False).encode()).rstrip(b"=").decode()


def token(clock, *, lasts=3600.0, **claims):
    exp = clock.now().timestamp() + lasts
    return f"{coded({'alg': 'RS256'})}.{coded({'exp': exp, **claims})}.signature"


@pytest.fixture
def clock():
    return VirtualClock()


class Idp:
    """An issuer that exchanges its refresh tokens at each use."""

    def __init__(self, clock, *, methods=None):
        self.clock = clock
        self.methods = methods
        self.refresh_token = "refresh-0"
        self.given = 0
        self.url = ""
        self.tokens_asked = []
        self.refusal = None

    @asynccontextmanager
    async def running(self, path="", **options):
        async with serving(self.handle, **options) as served:
            self.url = served.address + path
            yield served

    async def handle(self, asked, writer):
        if asked.target.endswith("/.well-known/openid-configuration"):
            found = {"issuer": self.url, "token_endpoint": f"{self.url}/token?v=2"}
            found |= {"token_endpoint_auth_methods_supported": self.methods} if self.methods else {}
            writer.write(answer(json.dumps(found).encode()))
            return
        self.tokens_asked.append(asked)
        form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        if self.refusal:
            writer.write(answer(*self.refusal[:1], status=self.refusal[1]))
        elif form.get("refresh_token") != self.refresh_token:
            writer.write(answer(b'{"error": "invalid_grant"}', status=400))
        else:
            self.given += 1
            self.refresh_token = f"refresh-{self.given}"
            fresh = {"id_token": token(self.clock, number=self.given), "refresh_token": self.refresh_token}
            writer.write(answer(json.dumps(fresh).encode()))


def login(idp, clock, **tokens):
    return Oidc(Issuer(idp.url, "kube client", "secret/+"), clock=clock, **{"refresh_token": "refresh-0", **tokens})


async def number(credentials):
    payload = (await credentials.headers())["Authorization"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "==")).get("number")


async def test_the_token_of_the_last_login_is_used_while_it_is_good(clock):
    async with Idp(clock).running() as served:
        credentials = Oidc(Issuer(served.address, "kube"), id_token=token(clock, number=-1), clock=clock)

        assert await number(credentials) == -1
        assert (credentials.expires_at - clock.now()).total_seconds() == 3600
        assert served.asked == []


@given(st.text(max_size=30), st.integers(0, 2**33))
def test_any_claims_can_be_read(text, exp):
    """Payloads are base64url: one in twenty-odd of them has a `-` or `_`, which plain base64 does not know."""
    found = expiry(f"{coded({})}.{coded({'name': text, 'exp': exp})}.x")

    assert found is not None
    assert found.timestamp() == exp


@pytest.mark.parametrize("bad", ["", "a.b", "a.b.c.d", "a.!!.c", f"a.{coded([])}.c", f"a.{coded({'exp': 'soon'})}.c"])
def test_what_is_no_jwt_is_explained(bad):
    with pytest.raises(ConfigurationError, match="expected an id token in three parts"):
        expiry(bad)


async def test_an_expired_token_is_renewed_again_and_again_with_the_newest_refresh_token(clock):
    idp = Idp(clock)
    async with idp.running("/realms/x"):
        credentials = login(idp, clock, id_token=token(clock, lasts=-1))

        found = [await number(credentials)]
        for seconds in (3569, 1, 3600):
            await clock.advance(seconds)
            found.append(await number(credentials))

    assert found == [1, 1, 2, 3]
    assert {asked.target for asked in idp.tokens_asked} == {"/realms/x/token?v=2"}


async def test_a_refused_token_is_renewed_before_its_time(clock):
    idp = Idp(clock)
    async with idp.running():
        credentials = login(idp, clock, id_token=token(clock, number=-1))
        await credentials.headers()

        credentials.invalidate()

        assert await number(credentials) == 1


async def test_many_requests_at_once_renew_once(clock):
    """An issuer that exchanges refresh tokens ends the login when it sees one twice."""
    idp = Idp(clock)
    async with idp.running():
        credentials = login(idp, clock)
        async with background(*(credentials.headers() for _ in range(20))) as tasks:
            for task in tasks:
                await task

    assert idp.given == 1


BASIC = "Basic " + base64.b64encode(b"kube+client:secret%2F%2B").decode()
IN_FORM = {"client_id": ["kube client"], "client_secret": ["secret/+"]}


@pytest.mark.parametrize(
    ("methods", "header", "form"),
    [(None, BASIC, {}), (["client_secret_basic"], BASIC, {}), (["client_secret_post"], None, IN_FORM)],
)
async def test_the_client_proves_itself_as_the_issuer_wants_it(clock, methods, header, form):
    idp = Idp(clock, methods=methods)
    async with idp.running():
        await login(idp, clock).headers()

    [asked] = idp.tokens_asked
    assert asked.headers.get("authorization") == header
    assert parse_qs(asked.body.decode()) == {
        "grant_type": ["refresh_token"],
        "refresh_token": ["refresh-0"],
        **form,
    }


async def test_an_issuer_with_an_authority_of_its_own_is_trusted_by_it(clock):
    authority = Authority()
    idp = Idp(clock)
    async with idp.running(tls=authority.server_context(authority.issue("idp", hosts=["127.0.0.1"]))):
        trusted = Oidc(Issuer(idp.url, "kube", trust=Trust(Pem(authority.pem))), refresh_token="refresh-0", clock=clock)
        assert await number(trusted) == 1

        with pytest.raises(ConnectError, match="certificate verify failed"):
            await Oidc(Issuer(idp.url, "kube"), refresh_token="refresh-1", clock=clock).headers()


async def test_a_login_that_has_run_out_says_so(clock):
    idp = Idp(clock)
    async with idp.running():
        with pytest.raises(ConfigurationError, match=r"found it refuse: .*invalid_grant.*; log in again"):
            await login(idp, clock, refresh_token="old").headers()
        with pytest.raises(ConfigurationError, match="or a refresh token to get one, found neither; log in again"):
            await login(idp, clock, refresh_token="", id_token=token(clock, lasts=-1)).headers()


async def test_an_issuer_in_trouble_is_not_mistaken_for_a_refusal(clock):
    idp = Idp(clock)
    async with idp.running():
        idp.refusal = b"<html>bad gateway", 502
        with pytest.raises(ConnectError, match="found HTTP 502"):
            await login(idp, clock).headers()
        idp.refusal = b"slow down", 429
        with pytest.raises(ConnectError, match="found HTTP 429: slow down"):
            await login(idp, clock).headers()
        idp.refusal = b"", 302
        with pytest.raises(ConfigurationError, match=r"OpenID Connect at .*, found HTTP 302: .*use that address$"):
            await login(idp, clock).headers()
        idp.refusal = b"{}", 200
        with pytest.raises(ConfigurationError, match="found an answer without one"):
            await login(idp, clock).headers()


async def test_a_token_that_is_still_good_outlives_an_issuer_that_is_away(clock):
    idp = Idp(clock)
    async with idp.running():
        credentials = login(idp, clock)
        await credentials.headers()

    await clock.advance(3580)
    assert await number(credentials) == 1
    await clock.advance(20)
    with pytest.raises(ConnectError):
        await credentials.headers()
