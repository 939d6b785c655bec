"""Wall clocks that jump: one for each process, moved from outside while it runs.

A `sitecustomize` in the child's PYTHONPATH shifts `time.time` and `datetime.now`, and works wherever Python does;
libfaketime would have to be installed, and would move monotonic time along.
"""

import struct
from pathlib import Path

_SHIM = Path(__file__).with_name("clock_shim")


class JumpingClock:
    """How far the wall clock of one process is off."""

    def __init__(self, file: Path) -> None:
        """Keep the offset in that file, which is made."""
        self._file = file
        file.write_bytes(struct.pack("d", 0.0))

    @property
    def environment(self) -> dict[str, str]:
        """What the process has to be started with."""
        return {"PYTHONPATH": str(_SHIM), "CHAOS_CLOCK": str(self._file)}

    def jump(self, seconds: float) -> None:
        """Be that far from the true time from now on."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("d", seconds))
