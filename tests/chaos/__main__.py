"""`python -m tests.chaos`: play seeds, print what breaks, make failing plans smaller."""

import argparse
import asyncio
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.chaos import operators
from tests.chaos.plans import Step, parse, plan_of, without
from tests.chaos.runs import Outcome, played, prepared
from tests.chaos.shrinking import shrunk
from tests.chaos.site import Beginning

_WORLD = "world"


def main() -> int:
    """Play what the command line says; return 0 only when every promise held."""
    parsed = _parser().parse_args()
    if parsed.print:
        print("\n".join(map(str, _plan(parsed))))
        return 0
    if parsed.seed is not None or parsed.plan:
        return asyncio.run(_one(parsed))
    return asyncio.run(_many(parsed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Play faults at whole processes.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int, help="play one seed, and print its plan when it fails")
    which.add_argument("--seeds", metavar="A-B", help="play these seeds")
    which.add_argument("--plan", type=Path, metavar="FILE", help="play a plan: one step a line")
    parser.add_argument("--minutes", type=float, default=0, help="begin no further seed after that many; 0: no limit")
    parser.add_argument("--jobs", type=int, default=2, help="how many seeds to play at a time")
    parser.add_argument("--silence", type=float, default=1.5, help="seconds at the end in which nobody may write")
    parser.add_argument("--beginning", type=Path, help=argparse.SUPPRESS)  # what `--seeds` prepares for all of them
    parser.add_argument(
        "--without", action="append", default=[], metavar="WORDS", help="leave out steps that begin with these words"
    )
    parser.add_argument("--print", action="store_true", help="print the plan in place of playing it")
    parser.add_argument("--shrink", action="store_true", help="drop steps of a failing plan for as long as it fails")
    parser.add_argument("--keep", action="store_true", help="keep logs and data even when all went well")
    return parser


def _plan(parsed: argparse.Namespace) -> list[Step]:
    plan = parse(parsed.plan.read_text()) if parsed.plan else plan_of(parsed.seed)
    return without(plan, parsed.without)


async def _one(parsed: argparse.Namespace) -> int:
    name = str(parsed.plan or "") or f"seed {parsed.seed}"
    plan = _plan(parsed)
    with _beginnings() as folder:
        beginning = await _beginning(parsed.beginning, folder)
        return await _judged(name, plan, beginning, parsed)


@contextmanager
def _beginnings() -> Iterator[Path]:
    """Have a folder for what plans begin with."""
    with tempfile.TemporaryDirectory(prefix="chaos-beginning-") as folder:
        yield Path(folder)


async def _beginning(given: Path | None, folder: Path) -> Beginning:
    """Return the beginning that another process has prepared, or prepare one."""
    if given is not None:
        return Beginning(given, pickle.loads((given / _WORLD).read_bytes()))
    found = await prepared(folder)
    (folder / _WORLD).write_bytes(pickle.dumps(found.world))
    return found


async def _judged(name: str, plan: list[Step], beginning: Beginning, parsed: argparse.Namespace) -> int:
    outcome = await played(plan, beginning, silence=parsed.silence)
    if not outcome.violations:
        print(f"{name}: {len(plan)} steps, all promises held, {outcome.seconds:.1f} s{await _left_out(plan)}")
        _tidy(outcome, is_kept=parsed.keep)
        return 0
    print(f"{name} FAILED after {outcome.seconds:.1f} s{await _left_out(plan)}\n{outcome.report}", flush=True)
    if parsed.shrink:
        small = await shrunk(plan, outcome, beginning, silence=parsed.silence)
        print("smallest plan that fails:", *small, sep="\n  ")
    return 1


async def _left_out(plan: Iterable[Step]) -> str:
    """Say which steps were left out because kcpctl does not have their command yet."""
    known = {command.verb for command in operators.COMMANDS}
    left = sorted({step.verb for step in plan} & known - (await operators.built()).keys())
    return f" (left out, kcpctl has no such command: {', '.join(left)})" if left else ""


def _tidy(outcome: Outcome, *, is_kept: bool) -> None:
    if not is_kept and outcome.folder is not None:
        shutil.rmtree(outcome.folder)


async def _many(parsed: argparse.Namespace) -> int:
    """Play each seed in a process of its own, a few at a time."""
    first, _, last = parsed.seeds.partition("-")
    seeds = iter(range(int(first), int(last or first) + 1))
    end = time.monotonic() + parsed.minutes * 60 if parsed.minutes else float("inf")
    passed: list[int] = []
    failed: list[int] = []
    with _beginnings() as folder:
        await _beginning(None, folder)
        options = ["--silence", str(parsed.silence), "--beginning", str(folder), *(["--shrink"] * parsed.shrink)]
        options += [f"--without={words}" for words in parsed.without]
        async with asyncio.TaskGroup() as group:
            for _ in range(parsed.jobs):
                group.create_task(_worker(seeds, end, options, passed, failed))
    print(f"{len(passed)} seeds held, {len(failed)} failed: {' '.join(map(str, sorted(failed))) or 'none'}")
    return 1 if failed else 0


async def _worker(seeds: Iterator[int], end: float, options: list[str], passed: list[int], failed: list[int]) -> None:
    for seed in seeds:
        if time.monotonic() > end:
            return
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.chaos", "--seed", str(seed), *options),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await child.communicate()
        print(said.decode().rstrip(), flush=True)
        (failed if child.returncode else passed).append(seed)


if __name__ == "__main__":
    sys.exit(main())
