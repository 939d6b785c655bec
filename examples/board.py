"""A ConfigMap beside each Team: made where it is missing, made again when somebody deletes it, gone with its Team.

Run it with `python -m kcpctl run examples/board.py`, then `kubectl apply -f examples/team/crds.yaml` and, once the
definitions are there, `kubectl apply -f examples/team/team.yaml`. Taking along what a deleted object owned is the work
of Kubernetes' garbage collector, which kcpctl's own server does not have.
"""

from informers import Cluster, Object, Resource, controller, owned_by

TEAMS = Resource("example.com", "v1", "teams")
BOARDS = Resource("", "v1", "configmaps")


@controller(TEAMS, owns=[BOARDS])
async def board(team: Object, cluster: Cluster) -> None:
    """Create the Team's board; the owner reference says whose it is, and has its changes wake the Team."""
    name = f"{team.name}-board"
    if cluster.lister(BOARDS).find(name, team.namespace) is None:
        await cluster.client.create(BOARDS, owned_by(team, {"metadata": {"name": name}, "data": {"news": "none"}}))
