"""What `/livez` and `/readyz` go by, each check under its own name."""

from collections.abc import Callable, Iterable
from typing import Any

from informers.api.errors import NotFound
from informers.cache.informer import SharedInformer
from kcpctl.apiserver.http.health import Health

Informers = Callable[[], Iterable[SharedInformer[Any]]]


class Readiness:
    """The state of a process as its checks see it; its parts fill it in as they come up."""

    def __init__(self, informers: Informers | None = None) -> None:
        """Begin unready; `informers` are those that have to be synced, None while nobody can say."""
        self.is_loaded = False
        """Whether what is stored was read."""
        self.stopping = False
        self.trouble: Callable[[], str] = str
        """Says why the API server's own work does not go on."""
        self.informers = informers

    def health(self) -> Health:
        """Return the checks by name."""
        return Health(
            ready={
                "storage": lambda: "" if self.is_loaded else "it is being read",
                "kinds": lambda: self.trouble(),
                "informers": self._unsynced,
                "shutdown": lambda: "the process is stopping" if self.stopping else "",
            }
        )

    def _unsynced(self) -> str:
        """Name the informers that are not synced; who waits for a kind that nobody has defined yet holds nobody up."""
        if self.informers is None:
            return "controllers are being set up"
        return ", ".join(
            str(informer.origin)
            for informer in self.informers()
            if not informer.synced and not isinstance(informer.last_error, NotFound)
        )
