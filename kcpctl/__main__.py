"""`python -m kcpctl` and the console script."""

import os
import signal
import sys
from types import FrameType

_EXIT_INTERRUPTED = 130
"""As shells count it."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until there is something to stop in order. A KeyboardInterrupt amid imports is a traceback, or it is swallowed
        # there, and the process goes on.
        signal.signal(signal.SIGINT, _end)
    from kcpctl.cli import run_command  # takes a tenth of a second

    sys.exit(run_command(sys.argv[1:]))


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(_EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
