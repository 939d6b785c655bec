"""Count the cycles a second of our WorkQueue: add 200,000 keys, then one worker takes and forgets each of them.

Limiter and observer are on. Prints one JSON line: the best run, the median, and how many runs there were.
"""

import asyncio
import json
import statistics
import sys
import time

from informers.api.objects import Key
from informers.clock import SystemClock
from informers.queue.facts import Delayed, Visited
from informers.queue.ratelimit import Exponential
from informers.queue.workqueue import WorkQueue

KEYS = 200_000


class Observer:
    """Does what a metric does with a visit: adds up."""

    def __init__(self) -> None:
        self.visits = 0
        self.waited = 0.0
        self.took = 0.0

    def notice(self, fact: Visited[Key] | Delayed[Key]) -> None:
        if isinstance(fact, Visited):
            self.visits += 1
            self.waited += fact.waited
            self.took += fact.took


async def cycles_per_second(keys: list[Key]) -> float:
    observer = Observer()
    queue: WorkQueue[Key] = WorkQueue(
        clock=SystemClock(), limiter=Exponential(), name="bench", observer=observer.notice
    )
    started = time.perf_counter()
    for key in keys:
        queue.add(key)
    for _ in range(len(keys)):
        async with queue.take() as key:
            queue.forget(key)
    took = time.perf_counter() - started
    assert observer.visits == len(keys)
    return len(keys) / took


async def main(runs: int) -> None:
    keys = [Key("", f"cluster-{n % 50}", "default", f"object-{n}") for n in range(KEYS)]
    found = [await cycles_per_second(keys) for _ in range(runs)]
    print(
        json.dumps(
            {
                "queue_cycles_per_s": round(max(found)),
                "median": round(statistics.median(found)),
                "runs": runs,
                "keys": KEYS,
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
