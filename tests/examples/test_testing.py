"""How to test a controller: what examples/ and the README show runs as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]


def pytest_run(*arguments: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_examples_own_tests_pass() -> None:
    assert "2 passed" in pytest_run("examples", "-o", "addopts=", cwd=ROOT)


def test_the_readmes_test_passes(tmp_path: Path) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Test one\n")[2].partition("\n## ")[0]
    code = dedent("\n".join(line for line in section.splitlines() if line.startswith("    ") or not line.strip()))
    files = re.split(r"^# (\w+\.py)$", code, flags=re.MULTILINE)[1:]
    for name, content in zip(files[::2], files[1::2], strict=True):
        (tmp_path / name).write_text(content, encoding="utf-8")
    settings = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
    (tmp_path / "pytest.ini").write_text(settings)
    (tmp_path / "examples").symlink_to(ROOT / "examples")

    found = pytest_run(".", "--ignore=examples", cwd=tmp_path, PYTHONPATH=f"{ROOT}")

    assert "1 passed" in found
