"""The deprecated `status.virtualWorkspaces` of APIExports: all shards' URLs, by the rules of endpoint slices."""

from dataclasses import dataclass
from typing import Any

from controllers.kinds import EXPORTS, Export
from controllers.publishing import FAILED, Decision, decide, urls_condition
from controllers.sightings import Sightings
from controllers.statuses import fields_of_status
from controllers.view import View
from informers.api.conditions import Condition, find, mark_false, remove_condition, set_condition, to_json
from informers.api.objects import Object
from informers.api.selectors import EVERYTHING
from informers.runtime.channels import Listen, every_key
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.result import Result

URLS_READY = "VirtualWorkspaceURLsReady"


@dataclass(frozen=True)
class ExportUrls:
    """Says which URLs an export should show."""

    known: Sightings

    async def __call__(self, obj: Object[Export], cluster: Cluster) -> Result | None:
        """Say which URLs the export should show; absence is never taken for deletion."""
        status = obj.value.status
        published = [endpoint.url for endpoint in status.virtual_workspaces or ()]
        complete = self.known.complete
        known = self.known.shards() if complete else self.known.only(self.known.home)
        if not complete and (published or not known.seen):
            return None
        now, before = cluster.now(), find(status.conditions, URLS_READY)
        if not known.seen and not published:
            condition, decision = mark_false(URLS_READY, FAILED, "no Shards known"), Decision(())
        else:
            decision = decide(published, obj.cluster, obj.name, known, EVERYTHING)
            condition = urls_condition(URLS_READY, decision, before, now)
        conditions = set_condition(status.conditions, condition, now=now)
        return _shown(obj, [{"url": url} for url in decision.urls], conditions)


async def remove_urls(obj: Object[Export], cluster: Cluster) -> Result | None:
    """Take the deprecated field and its condition away."""
    return _shown(obj, [], remove_condition(obj.value.status.conditions, URLS_READY))


def _shown(obj: Object[Export], urls: list[dict[str, Any]], conditions: list[Condition]) -> Result:
    status = fields_of_status(obj)
    status["virtualWorkspaces"] = urls or None
    status["conditions"] = to_json(conditions) or None
    return Result(status=status)


def export_urls(view: View) -> Controller[Export]:
    """Return the controller that keeps the field as the view says."""
    changes = Listen(view.shard_changes, to=every_key, ready=view.ready)
    made = controller(EXPORTS, name="apiexport-urls", watches=[changes], echoes=False, workers=16)
    return made(ExportUrls(view.sightings))


def no_export_urls() -> Controller[Export]:
    """Return the controller that removes the field wherever it is."""
    return controller(EXPORTS, name="apiexport-urls")(remove_urls)
