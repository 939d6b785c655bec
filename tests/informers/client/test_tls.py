import os
import ssl
import tempfile

import pytest

from informers.api.errors import ConfigurationError, ConnectError, TransportError
from informers.client.credentials import Anonymous, ClientCertificate
from informers.client.http import HttpTransport
from informers.client.tls import RECHECK, Pair, Pem, TlsContexts, Trust
from informers.client.transport import Request
from informers.clock import VirtualClock
from tests.informers.client.certificates import Authority, encrypted
from tests.informers.client.servers import answer, chunk, opening, serving


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture(scope="module")
def server_tls(authority):
    return authority.server_context(authority.issue("server", hosts=["127.0.0.1", "api.example.com"]), want_client=True)


@pytest.fixture(scope="module")
def red(authority):
    return authority.issue("red")


async def greet(asked, writer):
    """Answer with the name on the client's certificate."""
    subject = writer.get_extra_info("peercert")["subject"]
    writer.write(answer(subject[0][0][1].encode()))


async def asked_as(served, credentials, **options):
    """Return whom the server takes us for."""
    transport = HttpTransport(served.address, credentials=credentials, **options)
    try:
        response = await transport.send(Request("GET", "/"))
        try:
            return b"".join([piece async for piece in response.chunks()]).decode()
        finally:
            await response.aclose()
    finally:
        await transport.aclose()


async def test_a_certificate_in_memory_reaches_the_server(authority, server_tls, red):
    async with serving(greet, tls=server_tls) as served:
        who = ClientCertificate(Pem(red.certificate), Pem(red.key), trust=Trust(Pem(authority.pem)))

        assert await asked_as(served, who) == "red"


async def test_an_answer_that_is_dropped_half_read_has_its_socket_closed_by_then(authority, server_tls, red):
    """A program may end right after; a connection that still says its farewell over TLS would be left open."""

    async def half(asked, writer):
        writer.write(opening() + chunk(b"x"))

    async with serving(half, tls=server_tls) as served:
        who = ClientCertificate(Pem(red.certificate), Pem(red.key), trust=Trust(Pem(authority.pem)))
        transport = HttpTransport(served.address, credentials=who)
        for read_first in (True, False):
            response = await transport.send(Request("GET", "/", watch=True))
            used = response._response.connection.transport.get_extra_info("socket")
            if read_first:
                assert await anext(response.chunks()) == b"x"

            await response.aclose()

            assert used.fileno() == -1
        await transport.aclose()


async def test_a_server_of_another_authority_is_not_trusted(server_tls, red):
    async with serving(greet, tls=server_tls) as served:
        stranger = ClientCertificate(Pem(red.certificate), Pem(red.key), trust=Trust(Pem(Authority().pem)))
        with pytest.raises(ConnectError, match="certificate verify failed"):
            await asked_as(served, stranger)

        trusting = ClientCertificate(Pem(red.certificate), Pem(red.key), trust=Trust(insecure=True))
        assert await asked_as(served, trusting) == "red"


async def test_the_name_to_expect_can_differ_from_the_address(authority, server_tls, red):
    async with serving(greet, tls=server_tls) as served:
        who = ClientCertificate(Pem(red.certificate), Pem(red.key), trust=Trust(Pem(authority.pem)))

        assert await asked_as(served, who, tls_server_name="api.example.com") == "red"
        with pytest.raises(ConnectError, match=r"other\.example\.com"):
            await asked_as(served, who, tls_server_name="other.example.com")


async def test_a_missing_certificate_is_a_transport_error(authority, server_tls):
    """Which one is luck: since TLS 1.3 a client is refused after its handshake, and may see only the end."""
    async with serving(greet, tls=server_tls) as served:
        with pytest.raises(TransportError):
            await asked_as(served, Anonymous(TlsContexts(Trust(Pem(authority.pem)))))


async def test_a_certificate_that_changes_on_disk_is_taken_over(authority, server_tls, red, tmp_path):
    blue = authority.issue("blue")
    files = tmp_path / "tls.crt", tmp_path / "tls.key"
    clock = VirtualClock()
    tls = TlsContexts(Trust(Pem(authority.pem)), *(Pem(path=str(file)) for file in files), clock=clock)

    async with serving(greet, tls=server_tls) as served:
        for issued in (red, blue):
            files[0].write_bytes(issued.certificate)
            files[1].write_bytes(issued.key)
            await clock.advance(RECHECK)
            found = await asked_as(served, Anonymous(tls))

            assert found == ("red" if issued is red else "blue")


async def test_the_context_stays_the_same_while_nothing_changes(red, tmp_path):
    """Connections are pooled by context: a new one each minute would open new connections each minute."""
    (tmp_path / "both.pem").write_bytes(red.certificate + red.key)
    clock = VirtualClock()
    both = Pem(path=str(tmp_path / "both.pem"))
    tls = TlsContexts(Trust(insecure=True), both, both, clock=clock)
    first = await tls.context()

    await clock.advance(10 * RECHECK)
    tls.invalidate()

    assert await tls.context() is first


async def test_files_that_are_half_written_do_no_harm(authority, red, tmp_path):
    blue = authority.issue("blue")
    files = tmp_path / "tls.crt", tmp_path / "tls.key"
    files[0].write_bytes(red.certificate)
    files[1].write_bytes(red.key)
    clock = VirtualClock()
    tls = TlsContexts(Trust(), *(Pem(path=str(file)) for file in files), clock=clock)
    old = await tls.context()

    files[0].write_bytes(blue.certificate)
    await clock.advance(RECHECK)
    assert await tls.context() is old

    files[1].write_bytes(blue.key)
    await clock.advance(RECHECK)
    assert await tls.context() is not old


async def test_files_that_do_not_fit_are_an_error_once_the_old_ones_were_refused(authority, red, tmp_path):
    file = tmp_path / "both.pem"
    file.write_bytes(red.certificate + red.key)
    tls = TlsContexts(Trust(), Pem(path=str(file)), Pem(path=str(file)))
    await tls.context()

    file.unlink()
    tls.invalidate()

    with pytest.raises(ConfigurationError, match=r"expected a PEM file at .*both\.pem, found: No such file"):
        await tls.context()


async def test_a_pair_that_callers_bring_goes_before_the_configured_one(authority, server_tls, red):
    blue = authority.issue("blue")
    tls = TlsContexts(Trust(Pem(authority.pem)), Pem(red.certificate), Pem(red.key))

    configured = await tls.context()
    brought = await tls.context(Pair(blue.certificate, blue.key))

    assert brought is not configured
    assert await tls.context(Pair(blue.certificate, blue.key)) is brought


async def test_data_goes_before_the_file(red):
    assert Pem(b"data", "/no/such/file").read() == b"data"


async def test_keys_leave_neither_files_nor_descriptors(red, tmp_path, monkeypatch):
    """Private keys once lay readable in the temporary folder until the process ended, three descriptors a load."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    await TlsContexts(Trust(), Pem(red.certificate), Pem(red.key)).context()
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []

    for _ in range(20):
        await TlsContexts(Trust(), Pem(red.certificate), Pem(red.key)).context()

    assert os.listdir(tmp_path) == []
    assert not before or len(os.listdir("/proc/self/fd")) <= len(before)


@pytest.mark.parametrize(
    "certificate", [b"", b"rubbish", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"]
)
async def test_a_certificate_of_no_use_is_explained(red, certificate):
    with pytest.raises(ConfigurationError, match="expected a client certificate and its key in PEM, found"):
        await TlsContexts(Trust(), Pem(certificate or red.key), Pem(red.key)).context()


async def test_authorities_of_no_use_are_explained():
    with pytest.raises(ConfigurationError, match="certificate authorities in PEM, found 7 bytes that are not PEM"):
        await TlsContexts(Trust(Pem(b"rubbish"))).context()


async def test_a_key_behind_a_passphrase_is_an_error_and_not_a_prompt(red):
    with pytest.raises(ConfigurationError, match="without a passphrase, found an encrypted one"):
        await TlsContexts(Trust(), Pem(red.certificate), Pem(encrypted(red, b"secret"))).context()


async def test_authorities_as_clusters_make_them_are_taken():
    """They lack what the strict mode of newer Pythons demands."""
    context = await TlsContexts(Trust(Pem(Authority().pem))).context()

    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.verify_mode is ssl.CERT_REQUIRED
