"""Calls that wait for one of a limited number of connections: who waits, so that it can be said why a call failed."""


class Line:
    """The calls of one pool, in the order in which they came, which is that in which they get connections."""

    def __init__(self, connections: int) -> None:
        """Begin without any."""
        self._connections = connections
        self._came = 0
        self._went = 0

    def come(self) -> int:
        """Take one more call in; return its number."""
        self._came += 1
        return self._came

    def go(self) -> None:
        """Let one call go: its connection is free."""
        self._went += 1

    def waits(self, number: int) -> bool:
        """Say whether the call of that number has no connection: as long as it waits, none that came later has gone."""
        return number - self._went > self._connections
