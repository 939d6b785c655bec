"""How to test a controller: what examples/ and the README show runs as it stands, with the extra `testing` alone."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]


def pytest_run(*arguments: str, cwd: Path, **environment: str) -> str:
    """Run pytest as it is where only `kcpctl[testing]` was installed: of all plugins with pytest-asyncio alone."""
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_asyncio.plugin"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=cwd,
        env={**os.environ, **alone, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout + done.stderr


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Test one\n")[2].partition("\n## ")[0]


def files_shown() -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file that the README's section shows."""
    code = dedent("\n".join(line for line in readme().splitlines() if line.startswith("    ") or not line.strip()))
    shown = re.split(r"^# (\w+\.\w+)$", code, flags=re.MULTILINE)[1:]
    yield from zip(shown[::2], shown[1::2], strict=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which a reader has written what the README shows."""
    for name, content in files_shown():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def test_the_examples_own_tests_pass_in_a_clone_by_the_line_that_the_readme_shows() -> None:
    shown = re.findall("`(.*?)`", readme())
    assert {"pip install -e '.[testing]'", "python -m pytest examples"} < set(shown)

    assert "2 passed" in pytest_run("examples", cwd=ROOT)


def test_the_readmes_test_passes_in_a_project_of_its_own_and_warns_of_nothing(folder: Path) -> None:
    found = pytest_run(".", "--ignore=examples", "-W", "error", cwd=folder, PYTHONPATH=f"{ROOT}")

    assert "1 passed" in found
    assert "Warning" not in found


def test_the_readmes_test_passes_in_a_clone(folder: Path) -> None:
    (folder / "pytest.ini").unlink()
    shutil.copy(ROOT / "pyproject.toml", folder)

    assert "1 passed" in pytest_run("test_team.py", cwd=folder, PYTHONPATH=f"{ROOT}")
