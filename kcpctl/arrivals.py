"""Kinds that are defined while the process runs: whoever waits for one is told at once."""

from typing import Any

from informers.api.resources import Resource
from informers.cache.notices import Notice
from informers.runtime.manager import Manager
from kcpctl.builtin import LOCAL

_DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


def hurry_for_new_kinds(manager: Manager) -> None:
    """Have informers of the local server look again when their kind was defined; they would ask ever less often."""

    def handle(notice: Notice[Any]) -> None:
        spec = notice.new.at("spec", default={}) if notice.new is not None else {}
        kind = (spec.get("group"), (spec.get("names") or {}).get("plural"))
        for informer in manager.informers:
            resource = informer.origin.collection.resource
            is_waiting = not informer.live and informer.last_error is not None
            if informer.origin.server == LOCAL and (resource.group, resource.plural) == kind and is_waiting:
                informer.force_relist()

    manager.informer(_DEFINITIONS, LOCAL).add_handler(handle, name="arrivals")
