"""Retries at the edge of the process: whole operations, with pauses that somebody is told of."""

from collections.abc import Callable

from tenacity import RetryCallState

Waiting = Callable[[float, BaseException], None]
"""Told how many seconds pass before the next attempt, and why."""


def telling(waiting: Waiting) -> Callable[[RetryCallState], None]:
    """Return what tenacity calls before each pause."""

    def before_sleep(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if error is not None and state.next_action is not None:
            waiting(state.next_action.sleep, error)

    return before_sleep
