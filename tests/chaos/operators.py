"""Commands of operators that are evidence. One table: what is not built yet is left out of plans, and that is said."""

from typing import NamedTuple

from tests.chaos.processes import kcpctl


class Command(NamedTuple):
    """A kcpctl command, by its words."""

    verb: str
    """What plans call it."""
    words: tuple[str, ...]


COMMANDS = (
    Command("adopt", ("replication", "adopt")),
    Command("remove", ("shards", "remove")),
    Command("forget", ("forget", "export")),
)


async def built() -> dict[str, Command]:
    """Return the commands that this kcpctl has, by their verbs."""
    _, said = await kcpctl("--help")
    listed = {line.split()[0] for line in said.splitlines() if line.startswith("    ") and line.strip()}
    return {command.verb: command for command in COMMANDS if command.words[0] in listed}
