"""`make bench`: measures everything in one run, prints one table, and writes build/bench.json."""

import argparse
import sys
from collections.abc import Callable

from tests.bench import events, processes, queues, sync
from tests.bench.laboratory import Laboratory
from tests.bench.programs import BUILD, Missing
from tests.bench.rows import Row, table, write

_ROWS: tuple[Callable[[Laboratory], Row], ...] = (*sync.ROWS, *events.ROWS, *queues.ROWS, *processes.ROWS)
_FILE = BUILD / "bench.json"


def main() -> int:
    """Measure what the command line asks for; returns 1 when a row of ours could not be measured."""
    arguments = _arguments()
    if not sys.platform.startswith("linux"):
        print(f"bench: expected Linux, whose /proc says what a process uses, found {sys.platform}", file=sys.stderr)
        return 1
    wanted = [row for row in _ROWS if not arguments.only or row.__name__ in arguments.only]
    lab = Laboratory(1 if arguments.quick else 3, lambda line: print(f"bench: {line}", file=sys.stderr, flush=True))
    found, failures = [], []
    for measure in wanted:
        try:
            found.append(measure(lab))
        except Missing as missing:
            failures.append(f"{measure.__name__}: {missing}")
    print(table(found))
    write(found, _FILE)
    for failure in failures:
        print(f"bench: not measured: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run for each figure, instead of the median of three")
    names = [row.__name__ for row in _ROWS]
    parser.add_argument(
        "--only", action="append", choices=names, metavar="NAME", help=f"repeatable: {', '.join(names)}"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
