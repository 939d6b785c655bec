"""Who may come in where a process serves."""

import asyncio
import http.client
import ssl
from pathlib import Path

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.admintoken import TOKEN_FILE, kept_token
from kcpctl.apiserver.assembly import PlainServer
from kcpctl.apiserver.http.health import Health
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.hosting import Host, answering, application, hosting
from kcpctl.metrics import Metrics
from kcpctl.settings import ServeSettings


async def status_of(host: Host, token: str | None) -> int:
    """Ask for namespaces over a socket, with the token and without a certificate."""
    trust = ssl.create_default_context(cadata=host.certificates.authority.decode())
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def ask() -> int:
        connection = http.client.HTTPSConnection(host.address.near.partition("://")[2], context=trust, timeout=5)
        try:
            connection.request("GET", "/api/v1/namespaces", headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()

    return await asyncio.to_thread(ask)


async def test_the_kept_token_is_the_administrators_and_no_other_is_anybodys(tmp_path: Path) -> None:
    async with hosting(ServeSettings(port=0, data_dir=tmp_path)) as host:
        server = PlainServer(MemoryStorage())
        await server.load()
        async with answering(host, application(host, server.mounts, Health(), lambda seen: None, Metrics())):
            token = (tmp_path / TOKEN_FILE).read_text().strip()

            assert await status_of(host, token) == 200
            assert await status_of(host, token[:-1] + ("a" if token[-1] != "a" else "b")) == 401
            assert await status_of(host, None) == 403


def test_a_token_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    made = kept_token(tmp_path)

    assert kept_token(tmp_path) == made
    assert (tmp_path / TOKEN_FILE).stat().st_mode & 0o077 == 0
    (tmp_path / TOKEN_FILE).unlink()
    assert kept_token(tmp_path) != made


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 40 + b" y", b"\xff" * 40])
def test_what_is_no_token_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / TOKEN_FILE).write_bytes(content)

    with pytest.raises(ConfigurationError, match="delete that file to have a new one made"):
        kept_token(tmp_path)
