"""The fixtures under test, as a user's conftest would get them."""

from kcpctl.testing.fixtures import apiserver, client, manager

__all__ = ["apiserver", "client", "manager"]
