"""Every refused read that was recorded from a real server is refused here with the same Status."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from kcpctl.apiserver.call import Call, Query
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http import statuses
from kcpctl.apiserver.reading import get, list_, watch
from tests.golden import pairs
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, WIDGETS
from tests.kcpctl.apiserver.reading.conftest import ROOT, Asking

_PATHS = {
    re.compile(r"/api/v1/namespaces/g1/configmaps(?:/(\w+))?\?(.*)"): CONFIGMAPS,
    re.compile(r"/apis/golden.example.com/v1/namespaces/g1/widgets(?:/(\w+))?\?(.*)"): WIDGETS,
}


def recorded() -> Iterator[tuple[str, Call, dict[str, Any]]]:
    """Yield (id, call, Status) of reads that failed for their query; how they are encoded is another matter."""
    for pair in pairs("golden.jsonl"):
        request, response = pair["req"], pair["resp"]
        if request["method"] != "GET" or response["status"] in (401, 403, 404, 406) or response["status"] < 400:
            continue
        for pattern, served in _PATHS.items():
            if found := pattern.fullmatch(request["path"]):
                name, query = found[1] or "", Query(found[2])
                verb = "get" if name else "watch" if query.flag("watch") else "list"
                status = response.get("body") or {k: v for k, v in response["events"][0].items() if k != "t"}
                if "includeObject" not in query:
                    yield pair["id"], Call(verb, served, ROOT, query, namespace="g1", name=name), status


async def test_reads_are_refused_in_the_words_of_a_real_server(asking: Asking):
    differing = {}
    count = 0
    for name, call, expected in recorded():
        count += 1
        with pytest.raises(Failure) as caught:
            await asking.clock.run(_read(asking, call))
        found = json.loads(statuses.encode(caught.value.status))
        if _comparable(found) != _comparable(expected):
            differing[name] = (found, expected)

    assert differing == {}
    assert count >= 25


async def _read(asking: Asking, call: Call) -> None:
    if call.verb == "watch":
        watch(asking.world, call)
    elif call.verb == "list":
        await list_(asking.world, call)
    else:
        await get(asking.world, call)


def _comparable(status: dict[str, Any]) -> dict[str, Any]:
    """Take out what differs by nature: the revision that the server was at."""
    return {**status, "message": re.sub(r"current: \d+", "current: N", status["message"])}
