"""A data directory serves one process at a time and says which."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.datadir import locked

HOLD = """
import sys
from pathlib import Path
from kcpctl.datadir import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with (
        subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder,
    ):
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"

        with pytest.raises(ConfigurationError, match=f"in use by process {holder.pid}; end it"), locked(tmp_path):
            pass

        holder.stdin.close()
        holder.wait()

    with locked(tmp_path):
        pass


def test_a_directory_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path):
        pass
    (tmp_path / "format.json").write_text('{"format": 99}')

    with pytest.raises(ConfigurationError, match="has format 99, this kcpctl reads format 1"), locked(tmp_path):
        pass


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "Expecting property name"),
        ('{"x": 1}', """'{"x": 1}'"""),
        ("[]", "'[]'"),
        ("7", "'7'"),
        ("[7]", "'[7]'"),
    ],
)
def test_a_damaged_format_file_is_one_line(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "format.json").write_text(text)

    with pytest.raises(ConfigurationError) as told, locked(tmp_path):
        pass

    assert str(told.value).startswith(f'expected {{"format": 1}} in {tmp_path}/format.json, found {found}')
    assert "\n" not in str(told.value)


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigurationError, match="expected to write to the data directory"), locked(tmp_path / "file"):
        pass


@pytest.mark.parametrize("name", ["lock", "format.json"])
def test_a_file_that_cannot_be_written_is_named_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()

    told = f"expected to write to the data directory .*, but: {name}: Is a directory; name another with --data-dir"
    with pytest.raises(ConfigurationError, match=told), locked(tmp_path):
        pass


def test_nobody_else_may_read_what_is_new(tmp_path: Path) -> None:
    folder = tmp_path / "new"

    with locked(folder):
        assert os.stat(folder).st_mode & 0o077 == 0
        assert os.stat(folder / "lock").st_mode & 0o077 == 0
