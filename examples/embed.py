"""A Manager inside a program of your own, which goes on with its own work beside it.

The Manager touches neither signals nor logging nor the event loop: what happens is told to its observers. Run it
against any server with the Teams of `examples/team/`: `python examples/embed.py` uses KUBECONFIG as kubectl does.
"""

import asyncio
import logging
import sys
from typing import Any

from informers import (
    Backed,
    Cluster,
    ConfigurationError,
    Manager,
    NotSynced,
    Object,
    Reconciled,
    Resource,
    Result,
    Server,
    controller,
    load_kubeconfig,
)

TEAMS = Resource("example.com", "v1", "teams")


@controller(TEAMS)
async def greeter(team: Object, cluster: Cluster) -> Result:
    """Annotate each Team with a greeting."""
    return Result(fields={"metadata": {"annotations": {"example.com/greeting": f"Hello, {team.name}!"}}})


class Logging:
    """Logs what goes wrong; an observer is told every fact, each a frozen record, and picks those that it knows."""

    def notice(self, fact: Any) -> None:
        """Take note of a fact."""
        match fact:
            case Backed():
                logging.warning("%s: %s; next try in %.1f s", fact.origin, fact.error, fact.seconds)
            case Reconciled(error=Exception()):
                logging.warning("%s failed for %s: %s", fact.controller, fact.key, fact.error)


async def program(server: Server, patience: float = 10.0) -> list[str]:
    """Return the names of all Teams, once each of them was greeted; raises NotSynced after seconds without them."""
    async with server, Manager(server, [greeter], observers=[Logging()]) as manager:
        await manager.wait_synced(timeout=patience)
        await manager.wait_idle()
        return sorted(team.name for team in manager.informer(TEAMS).lister.list())


if __name__ == "__main__":
    try:
        print(*asyncio.run(program(load_kubeconfig().server())), sep="\n")
    except (ConfigurationError, NotSynced) as error:
        sys.exit(f"embed: {error}")
