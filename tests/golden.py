"""Where the recordings of real servers are, if they are at hand."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def golden_dir() -> Path:
    """Return the folder of recordings; skips the test where it is missing.

    `KCPCTL_GOLDEN` names it; else it is looked for beside the checkout.
    """
    named = os.environ.get("KCPCTL_GOLDEN")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "golden"
    if not folder.is_dir():
        pytest.skip(f"recordings of real servers are not at hand ({folder}); set KCPCTL_GOLDEN to their folder")
    return folder


def pairs(*name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one recording, such as `pairs("kcp", "c-cache-server.jsonl")`."""
    with golden_dir().joinpath(*name).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
