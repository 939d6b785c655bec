"""Waiting: what controllers that have not begun still wait for, in words."""

from collections.abc import Iterable, Iterator
from typing import Any

from informers.runtime.running import Run


def still_waited_for(runs: Iterable[Run[Any]]) -> str:
    """Return one line: each controller that has not begun, and which resources of which servers it lacks, and why."""
    return "; ".join(f"{run.controller.name!r} waiting for {_missing(run)}" for run in runs if not run.started.is_set())


def _missing(run: Run[Any]) -> str:
    return ", ".join(_told(run)) or "the channels that it listens to"


def _told(run: Run[Any]) -> Iterator[str]:
    for source in run.missing:
        origin, error = source.informer.origin, source.informer.last_error
        why = f"{type(error).__name__}: {error}" if error else "no answer yet"
        yield f"{origin.collection} of server {origin.server!r} ({why})"
