"""The fixtures that examples are run with."""

from kcpctl.testing.fixtures import apiserver, client, manager

__all__ = ["apiserver", "client", "manager"]
