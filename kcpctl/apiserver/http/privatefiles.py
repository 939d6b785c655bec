"""Files that only their owner may read, replaced in one step."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_private(path: Path, data: bytes) -> None:
    """Write a file with mode 0600; whoever reads at the same time sees the old content or the new one."""
    with NamedTemporaryFile(dir=path.parent, prefix=path.name + ".", delete=False) as fresh:  # made with mode 0600
        try:
            fresh.write(data)
            fresh.flush()
            os.replace(fresh.name, path)
        except BaseException:
            Path(fresh.name).unlink(missing_ok=True)
            raise
