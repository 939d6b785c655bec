"""A Manager inside a program of your own, which goes on with its own work beside it.

The Manager touches neither signals nor logging nor the event loop. Run it against any server with the Teams of
`examples/team/`: `python examples/embed.py` uses KUBECONFIG as kubectl does.
"""

import asyncio

from informers import Cluster, Manager, Object, Resource, Result, Server, controller, load_kubeconfig

TEAMS = Resource("example.com", "v1", "teams")


@controller(TEAMS)
async def greeter(team: Object, cluster: Cluster) -> Result:
    """Annotate each Team with a greeting."""
    return Result(fields={"metadata": {"annotations": {"example.com/greeting": f"Hello, {team.name}!"}}})


async def program(server: Server) -> list[str]:
    """Return the names of all Teams, once each of them was greeted."""
    async with server, Manager(server, [greeter]) as manager:
        await manager.wait_synced()
        await manager.wait_idle()
        return sorted(team.name for team in manager.informer(TEAMS).lister.list())


if __name__ == "__main__":
    print(*asyncio.run(program(load_kubeconfig().server())), sep="\n")
