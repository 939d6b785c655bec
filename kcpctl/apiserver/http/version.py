"""What `/version` says: which kube-apiserver this server behaves like."""

import platform
import sys

import msgspec

_MAJOR, _MINOR, _PATCH = 1, 36, 2
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def version_document() -> bytes:
    """Return the document, indented as kube-apiserver does it. The git version is strict semver; clients parse it."""
    machine = platform.machine().lower()
    fields = {
        "major": str(_MAJOR),
        "minor": str(_MINOR),
        "emulationMajor": str(_MAJOR),
        "emulationMinor": str(_MINOR),
        "minCompatibilityMajor": str(_MAJOR),
        "minCompatibilityMinor": str(_MINOR - 1),
        "gitVersion": f"v{_MAJOR}.{_MINOR}.{_PATCH}+kcpctl",
        "gitCommit": "unknown",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": sys.implementation.name,
        "platform": f"{sys.platform}/{_MACHINES.get(machine, machine)}",
    }
    return msgspec.json.format(msgspec.json.encode(fields), indent=2)
