"""`python -m tests.chaos`: play seeds, print what breaks, make failing plans smaller."""

import argparse
import asyncio
import shutil
import signal
import sys
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any

from tests.chaos import operators
from tests.chaos.beginnings import beginning_in, beginnings, read_beginning
from tests.chaos.kept import kept_plans, open_reason
from tests.chaos.many import play_all
from tests.chaos.plans import Step, parse, plan_of, without
from tests.chaos.runs import Outcome, played
from tests.chaos.shrinking import shrunk
from tests.chaos.site import Beginning


def main() -> int:
    """Play what the command line says; return 0 only when every promise held."""
    parsed = _parser().parse_args()
    if parsed.print:
        print("\n".join(map(str, _plan(parsed))))
        return 0
    job = _many if parsed.seeds or parsed.kept else _one
    try:
        return asyncio.run(_until_told(job(parsed)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130


async def _until_told(job: Coroutine[Any, Any, int]) -> int:
    """Do the job; a SIGTERM ends it, and with it every process that it started."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await job


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Play faults at whole processes.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int, help="play one seed, and print its plan when it fails")
    which.add_argument("--seeds", metavar="A-B", help="play these seeds")
    which.add_argument("--kept", action="store_true", help="play the plans that failed once, open ones included")
    which.add_argument("--plan", type=Path, metavar="FILE", help="play a plan: one step a line")
    parser.add_argument("--minutes", type=float, default=0, help="begin nothing after that many; 0: no limit")
    parser.add_argument("--jobs", type=int, default=2, help="how many to play at a time")
    parser.add_argument("--silence", type=float, default=2.5, help="seconds at the end in which nobody may write")
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
    with beginnings() as folder:
        beginning = read_beginning(parsed.beginning) if parsed.beginning else await beginning_in(folder)
        return await _judged(name, plan, beginning, parsed)


async def _judged(name: str, plan: list[Step], beginning: Beginning, parsed: argparse.Namespace) -> int:
    outcome = await played(plan, beginning, silence=parsed.silence)
    if reason := open_reason(parsed.plan):
        held = "holds: remove its first line" if not outcome.violations else "is open"
        print(f"{name} {held} ({reason}), {outcome.seconds:.1f} s\n{outcome.report}".rstrip(), flush=True)
        _tidy(outcome, is_kept=parsed.keep)
        return 0
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
    if not is_kept:
        shutil.rmtree(outcome.folder)


async def _many(parsed: argparse.Namespace) -> int:
    """Play what there is to play, a few at a time."""
    plays = [("--plan", str(file)) for file in kept_plans()] if parsed.kept else _seeds(parsed.seeds)
    options = ["--silence", str(parsed.silence), *(f"--without={words}" for words in parsed.without)]
    options += [f"--{name}" for name in ("shrink", "keep") if getattr(parsed, name)]
    with beginnings() as folder:
        await beginning_in(folder)
        options += ["--beginning", str(folder)]
        return await play_all(plays, options, jobs=parsed.jobs, seconds=parsed.minutes * 60 or float("inf"))


def _seeds(text: str) -> list[tuple[str, str]]:
    first, _, last = text.partition("-")
    return [("--seed", str(seed)) for seed in range(int(first), int(last or first) + 1)]


if __name__ == "__main__":
    sys.exit(main())
