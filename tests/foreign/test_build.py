"""The build says in one line why it builds nothing, and fails only for a real error."""

import shutil
import subprocess
from pathlib import Path

BUILD = Path(__file__).with_name("build.sh")


def test_without_go_it_says_what_to_install_and_succeeds(tmp_path: Path) -> None:
    dirname = shutil.which("dirname")
    assert dirname
    (tmp_path / "dirname").symlink_to(dirname)

    done = subprocess.run(["/bin/sh", BUILD], env={"PATH": str(tmp_path)}, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "foreign: skipped: no go on PATH; install Go 1.26 or newer\n"
