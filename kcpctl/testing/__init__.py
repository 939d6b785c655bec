"""Tests of controllers: an API server in the test's own process, and controllers that run until they are quiet.

    pytest_plugins = ["kcpctl.testing"]     # in conftest.py: brings the fixtures apiserver, client and manager

`python -m kcpctl.testing` tells what they are. Without pytest, `serving` and `Managers` do the same.
"""

from kcpctl.testing.managers import Managers
from kcpctl.testing.running import NeverQuiet, Running, wait_quiet
from kcpctl.testing.server import InProcessServer, serving
from kcpctl.testing.visits import ControllerFailed

pytest_plugins = ("kcpctl.testing.fixtures",)  # read by pytest; a name here, so that pytest itself stays optional

__all__ = ["ControllerFailed", "InProcessServer", "Managers", "NeverQuiet", "Running", "serving", "wait_quiet"]
