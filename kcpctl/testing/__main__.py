"""`python -m kcpctl.testing`: what the fixtures are."""

import sys
from inspect import cleandoc
from textwrap import indent

from kcpctl.testing import __doc__ as introduction

FIXTURES = ("apiserver", "client", "manager")

EXAMPLE = """
async def test_members_are_counted(apiserver, client, manager):
    await apiserver.apply(Path("examples/team"))

    await manager.run_until_quiet(team)

    blue = await client.get(TEAMS, "blue", namespace="default")
    assert blue.at("status", "members") == 0
"""


def main() -> int:
    """Print the fixtures with their docstrings; the exit code says whether they could be imported."""
    try:
        from kcpctl.testing import fixtures  # brings pytest, which may be missing
    except ModuleNotFoundError as error:
        print(
            f"kcpctl.testing: expected pytest and pytest-asyncio, found no {error.name}; install kcpctl[testing]",
            file=sys.stderr,
        )
        return 1
    print(cleandoc(introduction or ""), end="\n\n")
    for name in FIXTURES:
        print(name, indent(cleandoc(getattr(fixtures, name).__doc__), "    "), sep="\n", end="\n\n")
    print("For example:", indent(EXAMPLE.strip("\n"), "    "), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
