"""The command line is quick, and says in one line what cannot be."""

import subprocess
import sys
from pathlib import Path

import pytest

from kcpctl.cli import run_command

HEAVY = ("aiohttp", "cryptography", "kubernetes_asyncio", "structlog", "sqlite3")


@pytest.mark.parametrize("command", ["run", "serve", "cache", "status", "workspace create root:org"])
def test_on_windows_every_command_says_what_works_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_command(command.split(), platform="win32")

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert "which Windows does not have; the package informers works there" in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["shards", "remove", "--help"], ["run", "--help"], ["run", "--print-config"], ["--version"]],
)
def test_what_only_tells_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from kcpctl.cli import run_command\n"
        "try: run_command(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_a_server_without_a_kubeconfig_does_not_import_the_kubernetes_client() -> None:
    program = "import sys; import kcpctl.run, kcpctl.serve; print('kubernetes_asyncio' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("run --prot 7000", "kcpctl run: there is no --prot (did you mean --port?)"),
        ("cache --data x", "kcpctl cache: there is no --data (did you mean --data-dir?)"),
        ("cache --data_dir=x", "kcpctl cache: there is no --data_dir (did you mean --data-dir?)"),
        ("status --bogus", "kcpctl status: there is no --bogus;"),
        ("statsu", "(did you mean status?)"),
        ("workspace creat root:org", "(did you mean create?)"),
        ("shards remvoe amber", "(did you mean remove?)"),
        ("forget", "kcpctl forget: the following arguments are required: WHAT"),
        ("replication prune --yse", "kcpctl replication prune: there is no --yse (did you mean --yes?)"),
        ("run --log-format jsn", "(did you mean json?)"),
        ("run --port", "kcpctl run: argument --port: expected one argument"),
        ("", "kcpctl: the following arguments are required: COMMAND"),
    ],
)
def test_a_command_line_that_cannot_be_is_one_line_with_what_was_meant(
    arguments: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_command(arguments.split())

    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert told in said.err
    assert said.err.endswith(" --help\n")
    assert len(said.err.splitlines()) == 1


def test_a_context_without_a_kubeconfig_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "--context", "prod"]) == 2

    assert capsys.readouterr().err.startswith("kcpctl: expected --kubeconfig beside --context prod, found none")


INTERRUPTED = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs the tests in the background ignores it

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:  # as C libraries do that clear what they do not expect
                if {is_swallowed}:
                    return
                raise

sys.meta_path.insert(0, Interrupting())
sys.argv = ["kcpctl", "status", "--data-dir", "/nowhere"]
from kcpctl.__main__ import main
main()
"""


@pytest.mark.parametrize("is_swallowed", [False, True])
@pytest.mark.parametrize("name", ["kcpctl.cli", "kcpctl.settings", "kcpctl.status"])
def test_a_ctrl_c_amid_imports_ends_at_once_and_without_a_word(name: str, is_swallowed: bool) -> None:
    program = INTERRUPTED.format(name=name, is_swallowed=is_swallowed)

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "arguments", ["shards --data-dir {} remove amber", "shards remove amber --data-dir {}", "shards list --data-dir {}"]
)
def test_a_data_directory_counts_wherever_in_a_command_it_is_named(
    arguments: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(arguments.format(tmp_path).split()) == 2

    assert f"expected a running kcpctl in {tmp_path}, found none" in capsys.readouterr().err
