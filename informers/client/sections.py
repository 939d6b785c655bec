"""Parts of a kubeconfig, read by name with errors that say where."""

import base64
import binascii
import os
from typing import Any

from informers.api.errors import ConfigurationError
from informers.client.tls import Pem


def shown(path: str) -> str:
    """Return the path as people write it: with `~` for their home."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path


class Section:
    """One mapping of a kubeconfig: a cluster, a user, a context, or a mapping inside one."""

    def __init__(self, value: Any, *, what: str, file: str) -> None:
        """Take the mapping, what it is (`user 'admin'`) and the file it stands in; None counts as empty."""
        self.what = what
        self.file = file
        self._value: dict[str, Any] = self._checked({} if value is None else value, dict, what, "a mapping")

    def __contains__(self, name: str) -> bool:
        return self._value.get(name) not in (None, "", [], {})

    @property
    def names(self) -> list[str]:
        """The names of what is set."""
        return [name for name in self._value if name in self]

    def text(self, name: str) -> str:
        """Return a string; "" where it is not set."""
        found = self._value.get(name)
        return "" if found is None else self._checked(found, str, name, "a string")

    def needed(self, name: str) -> str:
        """Return a string that must be there."""
        found = self.text(name)
        if not found:
            raise ConfigurationError(f"expected {name} in {self.place}, found none")
        return found

    def flag(self, name: str) -> bool:
        """Return a boolean; False where it is not set."""
        found = self._value.get(name)
        return False if found is None else self._checked(found, bool, name, "true or false")

    def items(self, name: str) -> list[Any]:
        """Return a list; empty where it is not set."""
        found = self._value.get(name)
        return [] if found is None else self._checked(found, list, name, "a list")

    def section(self, name: str) -> "Section":
        """Return a mapping inside this one; empty where it is not set."""
        return Section(self._value.get(name), what=f"{name} of {self.what}", file=self.file)

    def path(self, name: str) -> str:
        """Return a file's path, relative ones taken from the kubeconfig's own folder; "" where it is not set."""
        found = self.text(name)
        return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(self.file)), found)) if found else ""

    def pem(self, name: str) -> Pem:
        """Return PEM text: `name-data` where it is set, else the file `name`."""
        data = self.text(f"{name}-data")
        if not data:
            return Pem(path=self.path(name))
        try:
            return Pem(base64.b64decode(data, validate=True))
        except binascii.Error as error:
            raise ConfigurationError(f"expected base64 as {name}-data in {self.place}, found: {error}") from error

    @property
    def place(self) -> str:
        """What this is and where, for messages."""
        return f"{self.what} in {shown(self.file)}"

    def _checked(self, found: Any, kind: type[Any], name: str, wanted: str) -> Any:
        if isinstance(found, kind):
            return found
        inside = "" if name == self.what else f" as {name}"
        raise ConfigurationError(f"expected {wanted}{inside} in {self.place}, found {type(found).__name__}")
