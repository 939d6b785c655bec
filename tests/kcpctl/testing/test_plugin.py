"""What a user has to do for the fixtures: name the plugin, whatever pytest-asyncio's mode."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

CONFTEST = 'pytest_plugins = ["kcpctl.testing"]\n'

SETTINGS = "asyncio_default_fixture_loop_scope = function"  # else pytest-asyncio warns

TESTS = """
import pytest
from kcpctl.testing import InProcessServer, Managers
from informers import Client, Resource, Result, controller

CONFIGMAPS = Resource("", "v1", "configmaps", kind="ConfigMap")

@controller(CONFIGMAPS)
async def labelling(obj, cluster):
    return Result(fields={"metadata": {"labels": {"seen": "yes"}}})

@pytest.mark.asyncio
@pytest.mark.parametrize("number", range(3))
async def test_each_has_a_server_of_its_own(
    number: int, apiserver: InProcessServer, client: Client, manager: Managers
) -> None:
    assert await client.list(CONFIGMAPS) == []
    await apiserver.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}})

    await manager.run_until_quiet(labelling)

    assert (await client.get(CONFIGMAPS, "one", namespace="default")).labels == {"seen": "yes"}

@pytest.mark.asyncio
async def test_a_test_that_fails_says_so_and_leaks_nothing(apiserver, manager):
    async with manager(labelling) as running:
        await running.wait_quiet()
        assert 1 == 2
"""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDEVMODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=60, env=environment, check=False
    )


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_naming_the_plugin_in_a_conftest_is_all(tmp_path: Path, mode: str) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_theirs.py").write_text(TESTS)

    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{SETTINGS}\nasyncio_mode = {mode}\n")

    found = run("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", cwd=tmp_path)

    assert "1 failed, 3 passed" in found.stdout, found.stdout + found.stderr
    assert "assert 1 == 2" in found.stdout
    assert "Warning" not in found.stdout + found.stderr


def test_the_module_tells_what_the_fixtures_are(tmp_path: Path) -> None:
    found = run("-W", "error", "-m", "kcpctl.testing", cwd=tmp_path)

    assert found.returncode == 0
    assert [line for line in found.stdout.splitlines() if line in ("apiserver", "client", "manager")] == [
        "apiserver",
        "client",
        "manager",
    ]
    assert found.stderr == ""


def test_without_pytest_everything_but_the_fixtures_works_and_they_are_explained(tmp_path: Path) -> None:
    whole = run("-m", "kcpctl.testing", cwd=tmp_path).stdout
    for path in (each for folder in sys.path if folder.endswith("site-packages") for each in Path(folder).iterdir()):
        if "pytest" not in path.name and path.suffix != ".pth":
            (tmp_path / path.name).symlink_to(path)
    here = f"import sys; sys.path += [{str(tmp_path)!r}]; "  # what is installed, but for pytest and its plugins

    found = run("-S", "-c", here + "import kcpctl.testing as t; print(*t.__all__)", cwd=ROOT)
    told = run("-S", "-c", here + "from kcpctl.testing.__main__ import main; sys.exit(main())", cwd=ROOT)

    assert "serving" in found.stdout, found.stderr
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(whole)
    assert "install what is missing here, pytest and pytest_asyncio: pip install -e '.[testing]'" in told.stdout
    assert "install" not in whole
