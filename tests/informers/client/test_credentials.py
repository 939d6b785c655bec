import pytest

from informers.api.errors import ConfigurationError
from informers.client.credentials import BasicPassword, BearerToken
from informers.client.http import HttpTransport
from informers.client.token_file import REREAD, TokenFile
from informers.client.transport import Request
from informers.clock import VirtualClock
from tests.informers.client.servers import always, answer, serving


async def test_white_space_around_a_token_is_no_part_of_it():
    assert await BearerToken(" secret\n").headers() == {"Authorization": "Bearer secret"}


@pytest.mark.parametrize("token", ["two\nlines", "naïve", "a\r\nX-Evil: b"])
async def test_a_token_that_no_header_can_carry_is_refused(token):
    with pytest.raises(ConfigurationError, match="printable ASCII"):
        BearerToken(token)


async def test_a_name_and_password_are_sent_as_basic():
    assert await BasicPassword("Aladdin", "open sesame").headers() == {
        "Authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    }


@pytest.fixture
def file(tmp_path):
    return tmp_path / "token"


async def authorization(credentials):
    return (await credentials.headers())["Authorization"]


async def test_a_token_file_is_read_again_every_minute(file):
    file.write_text("first\n")
    clock = VirtualClock()
    credentials = TokenFile(str(file), clock=clock)
    assert await authorization(credentials) == "Bearer first"

    file.write_text("second\n")
    assert await authorization(credentials) == "Bearer first"
    await clock.advance(REREAD)
    assert await authorization(credentials) == "Bearer second"


async def test_a_token_file_is_read_again_when_its_token_was_refused(file):
    file.write_text("first")
    credentials = TokenFile(str(file))
    await credentials.headers()

    file.write_text("second")
    credentials.invalidate()

    assert await authorization(credentials) == "Bearer second"


async def test_the_last_token_goes_on_while_its_file_is_being_replaced(file):
    file.write_text("first")
    clock = VirtualClock()
    credentials = TokenFile(str(file), clock=clock)
    await credentials.headers()

    file.unlink()
    await clock.advance(REREAD)
    assert await authorization(credentials) == "Bearer first"

    file.write_text("second")
    await clock.advance(REREAD)
    assert await authorization(credentials) == "Bearer second"


@pytest.mark.parametrize(
    ("content", "found"), [(None, "No such file"), (b" \n", "an empty file"), (b"\xff", "not text")]
)
async def test_a_token_file_of_no_use_is_explained(file, content, found):
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigurationError, match=f"expected a token in .*token, found.*{found}"):
        await TokenFile(str(file)).headers()


async def test_a_token_beside_its_file_is_used_while_the_file_cannot_be_read(file):
    assert await authorization(TokenFile(str(file), otherwise="spare")) == "Bearer spare"


class Rotating:
    """Credentials whose next token comes only when the old one was refused."""

    expires_at = None

    def __init__(self, *tokens):
        self.tokens = list(tokens)
        self.refused = 0

    async def headers(self):
        return {"Authorization": self.tokens[0]}

    async def ssl_context(self):
        return None

    def invalidate(self):
        self.refused += 1
        if len(self.tokens) > 1:
            del self.tokens[0]

    async def aclose(self):
        """Have nothing running."""


async def only_good(asked, writer):
    good = asked.headers["authorization"] == "good"
    writer.write(answer(asked.body) if good else answer(b"who?", status=401))


async def status_of(transport, **request):
    response = await transport.send(Request("POST", "/", **request))
    await response.aclose()
    return response.status


@pytest.mark.parametrize(
    ("tokens", "status", "sent"),
    [
        (["good"], 200, ["good"]),
        (["stale", "good"], 200, ["stale", "good"]),
        (["stale"], 401, ["stale"]),
        (["stale", "stale too", "good"], 401, ["stale", "stale too"]),
    ],
)
async def test_a_401_is_answered_once_with_fresh_credentials_if_there_are_any(tokens, status, sent):
    async with serving(only_good) as served:
        transport = HttpTransport(served.address, credentials=Rotating(*tokens))

        assert await status_of(transport, body=b"{}") == status
        assert [asked.headers["authorization"] for asked in served.asked] == sent
        assert {asked.body for asked in served.asked} == {b"{}"}
        await transport.aclose()


async def test_credentials_that_somebody_else_renewed_are_not_thrown_away():
    """Of many requests that meet an expired token only the first asks for a new one."""
    credentials = Rotating("stale", "good")

    async def handler(asked, writer):
        if len(served.asked) == 1:
            credentials.invalidate()
        await only_good(asked, writer)

    async with serving(handler) as served:
        transport = HttpTransport(served.address, credentials=credentials)

        assert await status_of(transport) == 200
        assert credentials.refused == 1
        await transport.aclose()


async def test_other_refusals_do_not_touch_credentials():
    credentials = Rotating("good", "other")
    async with serving(always(answer(status=403))) as served:
        transport = HttpTransport(served.address, credentials=credentials)

        assert await status_of(transport) == 403
        assert credentials.refused == 0
        await transport.aclose()
