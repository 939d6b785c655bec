"""Certificates that are made once, kept, and renewed in time."""

import asyncio
import ssl
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.http.certs import Certificates, names_for

ADMIN = User("admin", groups=("system:masters", "dev"))
NAMES = names_for("127.0.0.1")


class Calendar:
    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def reopen(tmp_path: Path, calendar: Calendar) -> Callable[[], Certificates]:
    return lambda: Certificates(tmp_path / "pki", now=calendar)


def test_what_was_made_is_used_again(reopen: Callable[[], Certificates]) -> None:
    first = reopen()
    made = (first.authority, first.server(NAMES), first.client("admin", ADMIN))

    again = reopen()

    assert (again.authority, again.server(NAMES), again.client("admin", ADMIN)) == made


def test_other_names_or_groups_need_another_certificate(reopen: Callable[[], Certificates]) -> None:
    certificates = reopen()

    assert certificates.server(NAMES) != certificates.server({*NAMES, "10.0.0.1"})
    assert certificates.client("admin", ADMIN) != certificates.client("admin", User("admin"))


def test_certificates_are_renewed_before_they_end(reopen: Callable[[], Certificates], calendar: Calendar) -> None:
    made = reopen().server(NAMES)

    calendar.now += timedelta(days=200)
    assert reopen().server(NAMES) == made
    calendar.now += timedelta(days=120)
    assert reopen().server(NAMES) != made


def test_a_new_authority_invalidates_what_the_old_one_signed(
    reopen: Callable[[], Certificates], tmp_path: Path
) -> None:
    made = reopen().server(NAMES)

    (tmp_path / "pki" / "ca.key").unlink()

    assert reopen().server(NAMES) != made


def test_everything_is_for_its_owner_only(reopen: Callable[[], Certificates], tmp_path: Path) -> None:
    certificates = reopen()
    certificates.server(NAMES)
    certificates.client("admin", ADMIN)

    folder = tmp_path / "pki"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["issued.json", *(f"{label}.{kind}" for label in ("ca", "server", "admin") for kind in ("crt", "key"))]
    )


@pytest.mark.parametrize("name", ["server.crt", "issued.json"])
def test_a_damaged_file_is_one_clear_line(reopen: Callable[[], Certificates], tmp_path: Path, name: str) -> None:
    reopen().server(NAMES)
    (tmp_path / "pki" / name).write_text("?")

    with pytest.raises(ConfigurationError) as caught:
        reopen().server_context(NAMES)

    assert str(tmp_path / "pki") in str(caught.value)
    assert "delete" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_bound_everywhere_is_called_by_its_host_name() -> None:
    assert names_for("0.0.0.0") - names_for("localhost")
    assert {"localhost", "127.0.0.1", "::1", "kubernetes.default.svc"} <= names_for("10.1.2.3")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_both_sides_of_a_connection_believe_each_other(
    reopen: Callable[[], Certificates], tmp_path: Path, host: str
) -> None:
    certificates = reopen()
    proven: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        proven.set_result(writer.get_extra_info("peercert"))
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=certificates.server_context(NAMES))
    certificates.client("admin", ADMIN)
    trusting = ssl.create_default_context(cadata=certificates.authority.decode())
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT
    trusting.load_cert_chain(tmp_path / "pki" / "admin.crt", tmp_path / "pki" / "admin.key")
    async with listener:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", listener.sockets[0].getsockname()[1], ssl=trusting, server_hostname=host
        )
        await reader.read()
        writer.close()
        await writer.wait_closed()

    assert (await proven)["subject"] == (
        (("organizationName", "system:masters"),),
        (("organizationName", "dev"),),
        (("commonName", "admin"),),
    )
