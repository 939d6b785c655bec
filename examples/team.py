"""Teams and their members: each Team's status says how many members it has, and whether all of them are ready.

Run it with `python -m kcpctl run examples/team.py`, then `kubectl apply -f examples/team/crds.yaml`
and, once the definitions are there, `kubectl apply -f examples/team/team.yaml`.
"""

from informers import Cluster, Condition, Object, Resource, Result, controller, generation_changed

TEAMS = Resource("example.com", "v1", "teams")
MEMBERS = Resource("example.com", "v1", "members")


@controller(TEAMS, where=generation_changed, owns=[MEMBERS])
async def team(team: Object, cluster: Cluster) -> Result:
    """Say what the status should be; the runtime patches only a difference."""
    members = cluster.lister(MEMBERS).owned_by(team)
    ready = sum(member.is_true("Ready") for member in members)
    all_ready = Condition("Ready", "True" if ready == len(members) else "False", reason="MembersCounted")
    return Result(status={"members": len(members), "readyMembers": ready, "conditions": [all_ready]})
