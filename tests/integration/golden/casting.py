"""Which steps of the recordings are not played, and for what reason."""

import re
from collections.abc import Sequence

from tests.integration.golden.recording import Moment

DONE = "done"
"""The verdict about a step that was done to a process."""
_KINDS = (
    "apiconversions",
    "cachedobjects",
    r"clustercached\w+",
    r"\w+admissionpolic\w+",
    r"\w+webhookconfigurations",
    "logicalclustermigrations",
)
_Rules = Sequence[tuple[str, str]]
_CALLS: _Rules = (
    ("bindings", r"/apibindings"),
    ("rights", r"/rbac\.authorization\.k8s\.io/|\buser-ann\b|^B2\.perm\."),
    ("schemas", r"/apiresourceschemas"),
    ("workspaces", r"/(workspaces|workspacetypes|logicalclusters)\b"),
    ("kinds", rf"/({'|'.join(_KINDS)})"),
    ("proxy", r" proxy \S+ GET /readyz"),
    ("process", r" cache \S+ GET /readyz"),
)
_NOTES: _Rules = (
    ("logs", r"^log "),
    ("kinds", r"^crds|^diff .*(schemas|clusters|role|workspace)"),
    ("figures", r" ms\b|ready"),
)


def not_played(moment: Moment) -> str:
    """Return the name of the reason why a step is not played; "" where it is."""
    if moment.kind == "note":
        return _first(_NOTES, moment.id)
    record = moment.record
    return _first(_CALLS, f"{moment.id} {record['server']} {record['as']} {moment.method} {moment.path}")


def _first(rules: _Rules, text: str) -> str:
    return next((reason for reason, pattern in rules if re.search(pattern, text)), "")
