"""Calls that wait for one of a limited number of connections: who waits, so that it can be said why a call failed."""


class Line:
    """The calls of one pool, in the order in which they came, which is that in which they get connections."""

    def __init__(self, connections: int) -> None:
        """Begin without any."""
        self._connections = connections
        self._came = 0
        self._here: dict[int, None] = {}

    def come(self) -> int:
        """Take one more call in; return its number."""
        self._came += 1
        self._here[self._came] = None
        return self._came

    def go(self, number: int) -> None:
        """Let the call of that number go: it has its answer, or has given up. Safe to call twice."""
        self._here.pop(number, None)

    def waits(self, number: int) -> bool:
        """Say whether the call of that number has no connection, since as many that came before it are still here."""
        return sum(other < number for other in self._here) >= self._connections
