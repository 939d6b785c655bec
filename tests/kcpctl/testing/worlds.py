"""What these tests apply: the kinds of examples/team, and controllers over them."""

from pathlib import Path
from typing import Any

from informers import Client, Cluster, Object, Resource, Result, controller

EXAMPLES = Path(__file__).parents[3] / "examples"
CRDS = EXAMPLES / "team" / "crds.yaml"
TEAMS = Resource("example.com", "v1", "teams", kind="Team")
MEMBERS = Resource("example.com", "v1", "members", kind="Member")


def team(name: str = "blue", **body: Any) -> dict[str, Any]:
    """Return a Team."""
    return {"apiVersion": "example.com/v1", "kind": "Team", "metadata": {"name": name, **body}}


def member(name: str, owner: Object | None = None, *, ready: bool = False) -> dict[str, Any]:
    """Return a Member, of a Team if there is one."""
    owners = [{"apiVersion": "example.com/v1", "kind": "Team", "name": owner.name, "uid": owner.uid}] if owner else []
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Member",
        "metadata": {"name": name, "ownerReferences": [{**one, "controller": True} for one in owners]},
        "status": status,
    }


@controller(TEAMS, owns=[MEMBERS])
async def counting(team: Object, cluster: Cluster) -> Result:
    """Count a Team's members."""
    members = cluster.lister(MEMBERS).owned_by(team)
    return Result(status={"members": len(members), "readyMembers": sum(one.is_true("Ready") for one in members)})


async def status(client: Client) -> Any:
    """Return the status of the Team blue."""
    return (await client.get(TEAMS, "blue", namespace="default")).at("status")
