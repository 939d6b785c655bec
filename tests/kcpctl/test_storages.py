"""Stores know whether an earlier process has written to them."""

import sqlite3
from pathlib import Path

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.storages import opened


async def test_a_store_is_new_until_something_was_written(tmp_path: Path) -> None:
    async with opened(tmp_path, "shard", in_memory=False) as found:
        assert found.is_new
    async with opened(tmp_path, "shard", in_memory=False) as found:
        assert found.is_new
        await found.storage.create("/registry/a", b"{}")

    async with opened(tmp_path, "shard", in_memory=False) as found:
        assert not found.is_new


async def test_memory_is_always_new(tmp_path: Path) -> None:
    for _ in range(2):
        async with opened(tmp_path, "shard", in_memory=True) as found:
            assert found.is_new
            await found.storage.create("/registry/a", b"{}")

    assert list(tmp_path.iterdir()) == []


async def test_a_file_of_somebody_else_is_one_line(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shard.sqlite") as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()

    with pytest.raises(ConfigurationError, match="found another SQLite database; use another data directory"):
        async with opened(tmp_path, "shard", in_memory=False):
            pass
