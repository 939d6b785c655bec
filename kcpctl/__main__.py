"""`python -m kcpctl` and the console script."""

import sys

from kcpctl.cli import run_command


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(run_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
