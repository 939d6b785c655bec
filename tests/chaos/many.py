"""Several plans, each in a process of its own, a few at a time."""

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence

Play = tuple[str, str]
"""A flag and its value: `--seed 7`, or `--plan FILE`."""


async def play_all(plays: Sequence[Play], options: Sequence[str], *, jobs: int, seconds: float) -> int:
    """Play them, beginning none after so many seconds; return 0 only when all held."""
    held: list[Play] = []
    failed: list[Play] = []
    left, end = iter(plays), time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for _ in range(jobs):
            group.create_task(_play(left, end, options, held, failed))
    which = " ".join(value for _, value in sorted(failed)) or "none"
    print(f"{len(held)} held, {len(plays) - len(held) - len(failed)} not begun, {len(failed)} failed: {which}")
    return 1 if failed else 0


async def _play(left: Iterator[Play], end: float, options: Sequence[str], held: list[Play], failed: list[Play]) -> None:
    for play in left:
        if time.monotonic() > end:
            return
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.chaos", *play, *options),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            said, _ = await child.communicate()
        finally:
            if child.returncode is None:
                child.terminate()
                await child.wait()
        print(said.decode().rstrip(), flush=True)
        (failed if child.returncode else held).append(play)
