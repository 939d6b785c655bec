"""`python -m kcpctl.testing`: what the fixtures are."""

import ast
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from textwrap import indent

from kcpctl.testing import __doc__ as introduction

NEEDED = ("pytest", "pytest_asyncio")
INSTALL = "pip install -e '.[testing]' in a clone"

EXAMPLE = """
async def test_members_are_counted(apiserver, client, manager):
    await apiserver.apply(Path("examples/team"))

    await manager.run_until_quiet(team)

    blue = await client.get(TEAMS, "blue", namespace="default")
    assert blue.at("status", "members") == 0
"""


def main() -> int:
    """Print the fixtures with their docstrings, and what is missing to use them."""
    print(cleandoc(introduction or ""), end="\n\n")
    for name, told in _fixtures():
        print(name, indent(cleandoc(told), "    "), sep="\n", end="\n\n")
    print("For example:", indent(EXAMPLE.strip("\n"), "    "), sep="\n\n")
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        print(f"\nTo use them, install what is missing here, {' and '.join(missing)}: {INSTALL}")
    return 0


def _fixtures() -> Iterator[tuple[str, str]]:
    """Yield the fixtures and their docstrings, read from their source: importing it needs pytest."""
    source = Path(__file__).with_name("fixtures.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, ast.get_docstring(node) or ""


if __name__ == "__main__":
    sys.exit(main())
