"""A process starts on what it left, ends when told to, and says in one line what stands in its way."""

import json
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.processes import Running, eventually, get, kcpctl, running

SLOW = """
import asyncio
from pathlib import Path
from informers import Cluster, Object, Resource, controller

HERE = Path(__file__).parent

@controller(Resource("", "v1", "configmaps"))
async def slow(obj: Object, cluster: Cluster) -> None:
    (HERE / "begun").touch()
    while not (HERE / "may-end").exists():
        await asyncio.sleep(0.01)
    (HERE / "ended").touch()
"""


@contextmanager
def a_slow_reconcile(folder: Path, *options: object) -> Iterator[Running]:
    """Run a process whose one controller has a key in hand until the file `may-end` is there."""
    (folder / "slow.py").write_text(SLOW)
    with running("run", folder / "data", folder / "slow.py", "--in-memory", *options) as process:
        process.kubectl()("create", "configmap", "any")
        eventually((folder / "begun").exists)
        yield process


def test_controllers_of_ones_own_come_with_something_to_try(tmp_path: Path) -> None:
    with running("run", tmp_path / "data", "examples/team.py", "examples/board.py", "--in-memory") as process:
        [tried] = [line for line in process.out if line.startswith("try")]
        command = tried.partition("kubectl ")[2].split()
        assert command == ["get", "teams.example.com", "--all-namespaces"]

        process.kubectl()("apply", "-f", "examples/team/crds.yaml")
        process.kubectl()("wait", "crd", "teams.example.com", "--for=condition=Established", "--timeout=10s")
        process.kubectl()("apply", "-f", "examples/team/team.yaml")
        assert "blue" in process.kubectl()(*command)


def test_state_survives_a_restart_and_the_workspace_keeps_its_name(tmp_path: Path) -> None:
    with running("run", tmp_path / "data") as process:
        port = process.port
        process.kubectl()("apply", "-f", "examples/endpointslice/")
        process.kubectl()("wait", "apiexportendpointslices/widgets", "--for=condition=EndpointURLsReady")
        before = process.kubectl().one("apiexportendpointslices", "widgets")
        assert process.stop() == 0

    with running("run", tmp_path / "data", port=port) as process:
        after = process.kubectl().one("apiexportendpointslices", "widgets")

    assert after == before
    assert before["status"]["endpoints"]


def test_a_shard_that_listens_elsewhere_is_published_where_it_is_now(tmp_path: Path) -> None:
    with running("run", tmp_path / "data") as process:
        process.kubectl()("apply", "-f", "examples/endpointslice/")
        process.kubectl()("wait", "apiexportendpointslices/widgets", "--for=condition=EndpointURLsReady")

    with running("run", tmp_path / "data") as process:

        def urls() -> list[str]:
            status = process.kubectl().one("apiexportendpointslices", "widgets")["status"]
            return [endpoint["url"] for endpoint in status["endpoints"]]

        eventually(lambda: len(urls()) == 1 and f":{process.port}/" in urls()[0])


def test_in_memory_nothing_is_kept_but_certificates(tmp_path: Path) -> None:
    for _ in range(2):
        with running("run", tmp_path / "data", "--in-memory") as process:
            process.kubectl()("create", "configmap", "mine")
            authority = (tmp_path / "data" / "certificates" / "ca.crt").read_bytes()

    assert not list((tmp_path / "data").glob("*.sqlite*"))
    assert authority == (tmp_path / "data" / "certificates" / "ca.crt").read_bytes()


def test_a_taken_port_and_a_held_directory_are_one_line_each(tmp_path: Path) -> None:
    with running("serve", tmp_path / "data", "--in-memory") as process:
        port_taken = kcpctl("serve", "--port", process.port, "--data-dir", tmp_path / "other")
        held = kcpctl("run", "--port", 0, "--data-dir", tmp_path / "data")

    assert port_taken.code == held.code == 2
    assert port_taken.err == (
        f"kcpctl: cannot listen on 127.0.0.1:{process.port}: the port is taken; "
        "name another with --port (0 picks a free one)\n"
    )
    assert held.err == (
        f"kcpctl: the data directory {tmp_path / 'data'} is in use by process {process.process.pid}; end it, or name "
        "another directory with --data-dir\n"
    )


@pytest.mark.parametrize("command", ["run", "serve", "cache"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_idle_process_ends_within_a_second(tmp_path: Path, command: str, number: signal.Signals) -> None:
    with running(command, tmp_path / "data", "--in-memory") as process:
        process.signal(number)
        asked = time.monotonic()

        assert process.end() == 0
        assert time.monotonic() - asked < 5  # one second on a machine that does nothing else
        assert not (tmp_path / "data" / "control.sock").exists()


def test_a_watch_in_flight_holds_nobody_up(tmp_path: Path) -> None:
    with (
        running("run", tmp_path / "data", "--in-memory") as process,
        process.kubectl().watching("namespaces", "-o", "name") as lines,
    ):
        eventually(lambda: lines)
        process.signal()

        assert process.end() == 0


def test_the_first_signal_waits_for_the_reconcile_in_hand_and_says_so(tmp_path: Path) -> None:
    with a_slow_reconcile(tmp_path) as process:
        process.signal()

        line = process.wait_for_log("waiting for reconciles to end")
        assert "slow" in line
        assert "any" in line
        eventually(lambda: get(process.port, "/readyz")[0] == 500)
        (tmp_path / "may-end").touch()
        assert process.end() == 0
        assert (tmp_path / "ended").exists()


def test_the_grace_period_ends_a_reconcile_that_does_not_end(tmp_path: Path) -> None:
    with a_slow_reconcile(tmp_path, "--grace", 0.2) as process:
        process.signal()

        assert process.end() == 0
        assert any("reconciles cancelled after the grace period" in line for line in process.err)


def test_the_second_signal_ends_at_once(tmp_path: Path) -> None:
    with a_slow_reconcile(tmp_path) as process:
        process.signal()
        process.wait_for_log("waiting for reconciles to end")
        process.signal()

        assert process.end(within=5) == 130
        assert not (tmp_path / "ended").exists()


def test_a_damaged_store_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "shard.sqlite").write_bytes(b"no database at all" * 100)

    done = kcpctl("run", "--port", 0, "--data-dir", tmp_path / "data")

    assert done.code == 2
    assert done.err.startswith(f"kcpctl: expected a kcpctl store in {tmp_path / 'data' / 'shard.sqlite'}, found: ")
    assert len(done.err.splitlines()) == 1


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "shard.sqlite") as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()

    done = kcpctl("run", "--port", 0, "--data-dir", tmp_path / "data")

    assert "found another SQLite database" in done.err
    assert done.code == 2


def test_settings_come_from_flags_then_variables_then_a_file(tmp_path: Path) -> None:
    (tmp_path / "kcpctl.toml").write_text('port = 7001\nshard-name = "amber"\n')

    shown = kcpctl("run", "--config", tmp_path / "kcpctl.toml", "--shard-name", "beryl", "--print-config")

    rows = {row.split()[0]: row.split()[1:] for row in shown.out.splitlines()}
    assert shown.code == 0
    assert rows["--port"] == ["7001", "file", str(tmp_path / "kcpctl.toml")]
    assert rows["--shard-name"] == ["beryl", "flag", "--shard-name"]
    assert rows["--bind-address"] == ["127.0.0.1", "default"]


def test_logs_may_be_json(tmp_path: Path) -> None:
    with running("run", tmp_path / "data", "--in-memory", "--log-format", "json", "-v") as process:
        event = json.loads(process.wait_for_log("controller started"))

    assert event["controller"]
    assert event["level"] == "debug"


def test_everything_works_on_asyncios_own_loop(tmp_path: Path) -> None:
    program = "import sys; sys.modules['uvloop'] = None; from kcpctl.__main__ import main; main()"
    with running("run", tmp_path / "data", "--in-memory", python=("-c", program)) as process:
        process.kubectl()("apply", "-f", "examples/endpointslice/")
        process.kubectl()("wait", "apiexportendpointslices/widgets", "--for=condition=EndpointURLsReady")

        assert process.stop() == 0


def test_what_a_killed_process_left_is_whole(tmp_path: Path) -> None:
    with running("run", tmp_path / "data") as process:
        process.kubectl()("create", "configmap", "kept")
        process.signal(signal.SIGKILL)
        assert process.end() == -signal.SIGKILL

    with running("run", tmp_path / "data") as process:
        assert process.kubectl()("get", "configmap", "kept", "-o", "name") == "configmap/kept\n"
        assert process.status()["process"]["pid"] == process.process.pid
