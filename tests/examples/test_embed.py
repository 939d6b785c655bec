"""examples/embed.py: a Manager inside somebody else's program, which it leaves alone."""

import asyncio
import logging
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from informers import Client, NotSynced, Resource, load_kubeconfig
from kcpctl.testing import InProcessServer
from kcpctl.testing.applying import apply_one
from kcpctl.testing.manifests import read_manifests
from tests.e2e.processes import running

EXAMPLES = Path(__file__).parents[2] / "examples"
TEAMS = Resource("example.com", "v1", "teams", kind="Team")
CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


def program() -> Callable[..., Any]:
    found: Callable[..., Any] = runpy.run_path(str(EXAMPLES / "embed.py"))["program"]
    return found


async def greeting(client: Client) -> str | None:
    return (await client.get(TEAMS, "blue", namespace="default")).annotations.get("example.com/greeting")


async def test_the_program_ends_with_every_team_greeted_and_a_second_run_writes_nothing(
    apiserver: InProcessServer, client: Client
) -> None:
    await apiserver.apply(EXAMPLES / "team")

    assert await program()(apiserver.connect()) == ["blue"]
    assert await greeting(client) == "Hello, blue!"
    assert len(apiserver.writes) == 1

    assert await program()(apiserver.connect()) == ["blue"]
    assert len(apiserver.writes) == 1


async def test_neither_signals_nor_logging_nor_the_loop_are_touched(apiserver: InProcessServer) -> None:
    await apiserver.apply(EXAMPLES / "team")
    loop = asyncio.get_running_loop()

    def outside() -> Any:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        logs = list(logging.root.handlers), logging.root.level
        return handlers, logs, asyncio.get_running_loop(), loop.get_exception_handler(), asyncio.all_tasks()

    before = outside()

    await program()(apiserver.connect())

    assert outside() == before


def test_as_a_process_it_uses_kubeconfig_as_kubectl_does(tmp_path: Path) -> None:
    with running("serve", tmp_path / "data", "--in-memory") as server:
        kubeconfig = server.data_dir / "admin.kubeconfig"
        asyncio.run(_apply_team(kubeconfig))

        done = embed(KUBECONFIG=str(kubeconfig))

        assert (done.returncode, done.stdout, done.stderr) == (0, "blue\n", "")
        assert asyncio.run(_greeting(kubeconfig)) == "Hello, blue!"


def embed(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run the example as a process of its own."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / "embed.py")]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=30, check=False
    )


def test_a_missing_kubeconfig_is_one_line(tmp_path: Path) -> None:
    done = embed(KUBECONFIG=str(tmp_path / "none"))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"embed: expected a kubeconfig at {tmp_path}/none (KUBECONFIG), found no such file\n"


async def test_a_server_without_teams_is_told_of_at_once_and_not_waited_for_for_ever(
    apiserver: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(NotSynced, match=r"'greeter' waiting for teams\.v1\.example\.com of server '.+' \(NotFound: "):
        await program()(apiserver.connect(), 0.5)

    assert "teams.v1.example.com" in caplog.text
    assert "next try in" in caplog.text


async def _apply_team(kubeconfig: Path) -> None:
    async with load_kubeconfig(str(kubeconfig)).server() as server, asyncio.timeout(30):
        client = server.client()
        *definitions, team = read_manifests(EXAMPLES / "team")
        for manifest in definitions:
            await apply_one(client, manifest)
        while not all(crd.is_true("Established") for crd in await client.list(CRDS)):
            await asyncio.sleep(0.01)
        await apply_one(client, team)


async def _greeting(kubeconfig: Path) -> str | None:
    async with load_kubeconfig(str(kubeconfig)).server() as server:
        return await greeting(server.client())
