"""Objects that were set aside, so that the rest can go on."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from informers.api.objects import Key


class Quarantine:
    """What is wrong with which object, for as long as it is.

    Invariant: a key is here from the moment it was held until its object is healthy or gone.
    """

    __slots__ = ("_errors", "_held", "_released", "errors", "total")

    def __init__(self, held: Callable[[Key, str], None], released: Callable[[Key], None]) -> None:
        """Tell `held` of each new error of a key, `released` of each key that leaves."""
        self._errors: dict[Key, str] = {}
        self.errors: Mapping[Key, str] = MappingProxyType(self._errors)
        """The last error of each object, read-only."""
        self._held = held
        self._released = released
        self.total = 0
        """How often something was set aside."""

    def __len__(self) -> int:
        """Count the objects that are set aside."""
        return len(self._errors)

    def hold(self, key: Key, error: str) -> None:
        """Set an object aside."""
        self.total += 1
        if self._errors.get(key) != error:
            self._errors[key] = error
            self._held(key, error)

    def release(self, key: Key) -> None:
        """Let an object go, if it was set aside."""
        if self._errors.pop(key, None) is not None:
            self._released(key)

    def replace(self, errors: Mapping[Key, str]) -> None:
        """Hold exactly these."""
        for key in [key for key in self._errors if key not in errors]:
            self.release(key)
        for key, error in errors.items():
            self.hold(key, error)
