"""What a process prints at its start: where things are, and what to try next."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path


def greet(lines: Iterable[str]) -> None:
    """Print the lines at once, whoever reads them."""
    print("\n".join(lines), flush=True)


def export_line(kubeconfig: Path) -> str:
    """Return the line that makes kubectl use a kubeconfig."""
    return f"export KUBECONFIG={shlex.quote(str(kubeconfig.resolve()))}"


def state_line(folder: Path, *, in_memory: bool) -> str:
    """Say where state is kept."""
    return "state is kept in memory, and gone at the end" if in_memory else f"state is kept in {folder}"


def near(path: Path) -> str:
    """Return a path as it is typed here: from the current folder, if it is in it."""
    return shlex.quote(os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path))


def kubectl() -> str:
    """Return how to call kubectl: by its name where the shell finds it, else the one beside our Python."""
    beside = Path(sys.executable).with_name("kubectl")
    if shutil.which("kubectl") or not beside.exists():
        return "kubectl"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)
