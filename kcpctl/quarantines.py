"""Objects that are set aside at present, kept from the runtime's facts."""

from typing import Any

from informers.api.objects import Key
from informers.cache.facts import Origin, Quarantined, Released


class Quarantines:
    """Remembers what was set aside and not released; an Observer."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._errors: dict[tuple[Origin, Key, str], str] = {}

    def notice(self, fact: Any) -> None:
        """Take note of a fact."""
        if isinstance(fact, Quarantined):
            self._errors[fact.origin, fact.key, fact.handler] = fact.error
        elif isinstance(fact, Released):
            self._errors.pop((fact.origin, fact.key, fact.handler), None)

    def of(self, origin: Origin) -> dict[str, str]:
        """Return the objects of one informer, by key, with the reason."""
        return {str(key): error for (where, key, _), error in self._errors.items() if where == origin}
