"""`make bench`: measures everything in one run, prints one table, and writes build/bench.json."""

import argparse
import sys
from collections.abc import Callable

from tests.bench import events, processes, queues, shards, sync
from tests.bench.laboratory import Laboratory, Sizes
from tests.bench.programs import BUILD, Missing
from tests.bench.rows import Row, table, write

_ROWS: tuple[Callable[[Laboratory], Row], ...] = (
    *sync.ROWS,
    *events.ROWS,
    *queues.ROWS,
    *processes.ROWS,
    *shards.ROWS,
)
_FILE = BUILD / "bench.json"


def main() -> int:
    """Measure what the command line asks for; returns 1 when a row of ours could not be measured."""
    arguments = _arguments()
    if not sys.platform.startswith("linux"):
        print(f"bench: expected Linux, whose /proc says what a process uses, found {sys.platform}", file=sys.stderr)
        return 1
    wanted = [row for row in _ROWS if not arguments.only or row.__name__ in arguments.only]
    lab = Laboratory(1 if arguments.quick or arguments.small else 3, _say, _sizes(arguments))
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


def _say(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)


def _sizes(arguments: argparse.Namespace) -> Sizes:
    if arguments.small:
        return Sizes(objects=60, shards=10, delays=6)
    return Sizes(delays=15) if arguments.quick else Sizes()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run for each figure, instead of the median of three")
    parser.add_argument("--small", action="store_true", help="few objects and shards, to try the rows about them")
    names = [row.__name__ for row in _ROWS]
    parser.add_argument(
        "--only", action="append", choices=names, metavar="NAME", help=f"repeatable: {', '.join(names)}"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
