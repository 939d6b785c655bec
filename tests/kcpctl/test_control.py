"""Commands reach the running process of a data directory, and are told in one line when there is none."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.control import ask, serving, socket_path


async def echo(question: dict[str, Any]) -> dict[str, Any]:
    return {"heard": question}


async def refuse(question: dict[str, Any]) -> dict[str, Any]:
    raise ConfigurationError("expected something else")


ANSWERS = {"echo": echo, "refuse": refuse}


async def test_a_question_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path, ANSWERS):
        answer = await asyncio.to_thread(ask, tmp_path, "echo", path="root:a")

    assert answer == {"heard": {"ask": "echo", "path": "root:a"}}


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("refuse", "^expected something else$"),
        ("bogus", "to bogus, found one that answers to echo, refuse only; name the --data-dir"),
    ],
)
async def test_a_refusal_is_the_askers_error(tmp_path: Path, what: str, told: str) -> None:
    async with serving(tmp_path, ANSWERS):
        with pytest.raises(ConfigurationError, match=told):
            await asyncio.to_thread(ask, tmp_path, what)


async def test_where_nothing_runs_one_line_says_so(tmp_path: Path) -> None:
    hint = "start one with `python -m kcpctl run`, or name its --data-dir"
    with pytest.raises(ConfigurationError, match=f"^expected a running kcpctl in {tmp_path}, found none; {hint}$"):
        ask(tmp_path, "echo")
    with pytest.raises(ConfigurationError, match=f"{tmp_path}/x, found no such directory; {hint}$"):
        ask(tmp_path / "x", "echo")


def test_a_killed_process_is_none(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path(tmp_path)))

    with pytest.raises(ConfigurationError, match="found none; start"):
        ask(tmp_path, "echo")


async def test_whatever_else_listens_there_is_not_taken_for_one(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 ready\n")
        writer.close()

    async with await asyncio.start_unix_server(talk, path=socket_path(tmp_path)):
        with pytest.raises(ConfigurationError, match=r"found none that answers: Extra data.*; start"):
            await asyncio.to_thread(ask, tmp_path, "echo")


async def test_what_a_killed_process_left_is_no_obstacle(tmp_path: Path) -> None:
    socket_path(tmp_path).touch()

    async with serving(tmp_path, ANSWERS):
        assert await asyncio.to_thread(ask, tmp_path, "echo")


async def test_only_the_owner_may_ask(tmp_path: Path) -> None:
    async with serving(tmp_path, ANSWERS) as path:
        assert os.stat(path).st_mode & 0o077 == 0


async def test_an_asker_that_goes_away_or_talks_nonsense_harms_nobody(tmp_path: Path) -> None:
    async with serving(tmp_path, ANSWERS) as path:
        for sent in (b"", b"{}\n", b"\xff\n", b"[1]\n", b'{"ask": ["x"]}\n'):
            _, writer = await asyncio.open_unix_connection(path)
            writer.write(sent)
            writer.close()
            await writer.wait_closed()

        assert await asyncio.to_thread(ask, tmp_path, "echo")


def test_a_deep_directory_is_reached_from_nearby_and_named_when_it_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    with pytest.raises(ConfigurationError, match="leaves room for a socket"):
        socket_path(deep)

    monkeypatch.chdir(deep)
    assert socket_path(deep) == Path("control.sock")


async def test_a_socket_that_cannot_be_had_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "control.sock").mkdir()

    with pytest.raises(ConfigurationError, match=r"expected to write to the data directory .*, but: control.sock: "):
        async with serving(tmp_path, ANSWERS):
            pass
