"""The command line is quick, and says in one line what cannot be."""

import subprocess
import sys

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


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["run", "--print-config"], ["--version"]])
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
