"""Sending again what a server turned away and asked for again."""

import msgspec

from informers.api.errors import ApiError


class Retry(msgspec.Struct, frozen=True):
    """How often a call is sent again: only after 429 and 5xx that say how long to wait, and nothing else ever.

    A server that says so has not done what was asked, so that writes may be sent again too.
    """

    tries: int = 3
    """In all; 1 never sends again."""
    total: float = 30.0
    """Seconds of waiting in all; a longer wait is not begun."""

    def delay(self, error: ApiError, *, attempt: int, waited: float) -> float | None:
        """Return the seconds to wait after this attempt (from 1) failed, or None to give up."""
        if error.retry_after is None or not (error.status.code == 429 or error.status.code >= 500):
            return None
        if attempt >= self.tries or waited + error.retry_after > self.total:
            return None
        return error.retry_after
