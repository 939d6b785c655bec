"""Every command that the README shows, as it stands there, and what it says comes of it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

import pytest

from tests.e2e.processes import KUBECTL, PROJECT, READY_WITHIN, Running, eventually, running


class Shown(NamedTuple):
    """A command in the README, and the lines that it is said to print."""

    command: str
    output: list[str]


def section(title: str) -> str:
    """Return the README's text below that heading."""
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^##+ {title}$(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"the README has no section {title!r}"
    return found.group(1)


def commands(text: str) -> Iterator[Shown]:
    """Yield the commands behind a `$`, each with what follows it."""
    shown: Shown | None = None
    for line in text.replace("\\\n", " ").splitlines():
        code = line.startswith("    ")
        if shown and not (code and not line.startswith("    $ ")):
            yield shown
            shown = None
        if line.startswith("    $ "):
            shown = Shown(" ".join(line[6:].split()), [])
        elif shown:
            shown.output.append(line.strip())
    if shown:
        yield shown


def told(line: str) -> str:
    """Leave out of a line what differs from one run to the next: ages, ports, processes, names of clusters."""
    line = re.sub(r"\b\d+(s|m\d*s?|h)\b", "AGE", line)
    line = re.sub(r"\b[a-z0-9]{16}\b", "CLUSTER", line)
    line = re.sub(r"127\.0\.0\.1:\d+", "HERE", re.sub(r"process \d+", "process N", line))
    return " ".join(line.split())


class Reader:
    """Somebody who types what the README shows, with folders and ports of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._home = folder / "home"
        self._stack = ExitStack()
        self.second: Running | None = None
        """The process that was started last beside the first one."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {key: value for key, value in os.environ.items() if not key.startswith(("KUBE", "KCPCTL"))}
        self._environment |= {"PATH": path, "HOME": str(self._home), "NO_COLOR": "1"}

    def __enter__(self) -> Self:
        self.first = self._stack.enter_context(running("run", self._folder / ".kcpctl"))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def types(self, shown: Shown) -> None:
        """Run a command as it is shown, and compare what it prints."""
        words = shlex.split(self._own(shown.command))
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self._environment[name] = value
        elif words[:4] in (["python", "-m", "kcpctl", "run"], ["python", "-m", "kcpctl", "serve"]):
            self.second = self._begin(words[3], words[4:])
        elif words[:4] == ["python", "-m", "kcpctl", "cache"]:
            self._begin(words[3], words[4:]).stop()
        elif "get" in words or "status" in words:
            eventually(lambda: self._prints(shown), what=f"what the README shows for `{shown.command}`")
        else:
            assert self._prints(shown)

    def _prints(self, shown: Shown) -> bool:
        out = self.run(shown.command)
        wanted = shown.output
        if wanted and wanted[-1] == "…":
            wanted = wanted[:-1]
            out = out[: len(wanted)]
        assert not wanted or list(map(told, out)) == list(map(told, wanted))
        return True

    def run(self, command: str) -> list[str]:
        """Run a command to its end, and return the lines that it prints; it must succeed."""
        done = subprocess.run(
            ["bash", "-c", self._own(command)],
            cwd=PROJECT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=READY_WITHIN,
        )
        assert done.returncode == 0, f"`{command}` failed: {done.stderr}"
        return done.stdout.replace(str(self._folder / ".kcpctl"), ".kcpctl").splitlines()

    def _begin(self, command: str, options: list[str]) -> Running:
        """Run a command that serves; its port is any that is free, its folder is the reader's."""
        folder, rest = self._folder / ".kcpctl-more", list(options)
        for option in ("--port", "--data-dir"):
            if option in rest:
                at = rest.index(option)
                folder = Path(rest[at + 1]) if option == "--data-dir" else folder
                del rest[at : at + 2]
        return self._stack.enter_context(running(command, folder, *rest))

    def _own(self, command: str) -> str:
        mine = command.replace("$PWD/.kcpctl", ".kcpctl").replace("127.0.0.1:6443", f"127.0.0.1:{self.first.port}")
        mine = re.sub(r"(?<![\w/])\.kcpctl", str(self._folder / ".kcpctl"), mine)
        asking = r"(python -m kcpctl (?:workspace create|status|shards remove|shards|replication status))"
        return re.sub(asking, rf"\1 --data-dir {self._folder / '.kcpctl'}", mine)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    if not KUBECTL.exists():
        pytest.skip(f"needs kubectl beside {sys.executable}; `make install` puts it there")
    with Reader(tmp_path) as found:
        yield found


def test_the_start_says_what_the_readme_says(reader: Reader) -> None:
    lines = [line.strip() for line in section("Two commands").splitlines() if line.startswith("    ")]
    at = next(at for at, line in enumerate(lines) if line.startswith("export KUBECONFIG="))
    folder = str(reader.first.data_dir)

    said = [line.replace(folder, ".kcpctl") for line in reader.first.out]

    assert list(map(told, said[1:])) == list(map(told, lines[at + 1 :]))
    assert said[0] == "export KUBECONFIG=.kcpctl/admin.kubeconfig\n"


def test_the_tour_goes_as_it_is_told(reader: Reader) -> None:
    before, stopped, after = section("A tour of two minutes").partition("Now stop the second shard.")
    assert stopped
    for shown in commands(before):
        reader.types(shown)

    assert reader.second
    reader.second.stop()
    last = list(commands(after))
    for shown in last:
        reader.types(shown)

    assert any("ENDPOINTS" in line for shown in last for line in shown.output)


def test_the_table_of_commands_works(reader: Reader) -> None:
    reader.types(Shown("export KUBECONFIG=.kcpctl/admin.kubeconfig", []))
    tried = 0
    for command in re.findall(r"^\| `(.*?)` \|", section("More of it"), re.MULTILINE):
        if "FILE" in command or (command.startswith("curl") and not shutil.which("curl")):
            continue
        if "--print-config" in command:
            assert any("port" in line for line in reader.run(command))
        else:
            reader.types(Shown(command, []))
        tried += 1

    assert tried >= 5


def test_a_controller_runs_as_it_is_told(tmp_path: Path, reader: Reader) -> None:
    shown = list(commands(section("Write a controller")))
    assert shown[0].command == "python -m kcpctl run examples/team.py"
    reader.types(Shown("export KUBECONFIG=.kcpctl-more/admin.kubeconfig", []))
    for one in shown:
        reader.types(one)
