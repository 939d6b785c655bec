"""What plans begin with: made once, and copied for each of them."""

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.runs import prepared
from tests.chaos.site import Beginning

_WORLD = "world"


@contextmanager
def beginnings() -> Iterator[Path]:
    """Have a folder for what plans begin with."""
    with tempfile.TemporaryDirectory(prefix="chaos-beginning-") as folder:
        yield Path(folder)


async def beginning_in(folder: Path) -> Beginning:
    """Make a beginning in the folder, which other processes can read."""
    found = await prepared(folder)
    (folder / _WORLD).write_bytes(pickle.dumps(found.world))
    return found


def read_beginning(folder: Path) -> Beginning:
    """Return the beginning that another process has made there."""
    return Beginning(folder, pickle.loads((folder / _WORLD).read_bytes()))
