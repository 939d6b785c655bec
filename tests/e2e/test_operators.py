"""The commands of operators, asked of whole processes."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import Ended, Kubectl, Running, eventually, kcpctl, running

SLICES = "apiexportendpointslices"


class Shards:
    """A cache server as a process, and two shards over it."""

    def __init__(self, first: Running, second: Running, cache: Running) -> None:
        self.first = first
        self.second = second
        self.cache = cache

    def ask(self, *words: object, shard: Running | None = None) -> Ended:
        """Run a command against one of them, by default the first."""
        return kcpctl(*words, "--data-dir", (shard or self.first).data_dir)

    def json(self, *words: object, shard: Running | None = None) -> Any:
        """Return what a command says as JSON."""
        done = self.ask(*words, "-o", "json", shard=shard)
        assert done.code == 0, done.err
        return json.loads(done.out)

    def refusal(self, *words: object) -> str:
        """Return the one line with which a command is refused."""
        done = self.ask(*words)
        assert (done.code, done.out) == (2, "")
        assert len(done.err.splitlines()) == 1
        return done.err

    def life(self, name: str) -> str:
        return str(next(one["life"] for one in self.json("shards")["shards"] if one["name"] == name))

    def listed(self, shard: Running) -> list[int]:
        """Return the ports in the URLs that a shard's slice lists."""
        status: Any = shard.kubectl().one(SLICES, "widgets").get("status", {})
        return sorted(int(one["url"].split(":")[2].split("/")[0]) for one in status.get("endpoints") or ())


@pytest.fixture
def shards(tmp_path: Path) -> Iterator[Shards]:
    with running("cache", tmp_path / "cache") as cache:
        over = ("--cache-kubeconfig", tmp_path / "cache" / "cache.kubeconfig")
        with (
            running("run", tmp_path / "first", "--shard-name", "amber", *over) as first,
            running("run", tmp_path / "second", "--shard-name", "violet", *over) as second,
        ):
            yield Shards(first, second, cache)


def test_a_shard_that_was_killed_is_removed_for_good_and_one_that_lives_is_not(shards: Shards) -> None:
    first, second = shards.first, shards.second
    first.kubectl()("apply", "-f", "examples/endpointslice/")
    eventually(lambda: shards.listed(first) == sorted([first.port, second.port]))
    eventually(lambda: shards.life("violet") == "alive")
    assert "expected shard violet to have ended, found that it renewed its lease" in shards.refusal(
        "shards", "remove", "violet"
    )

    second.signal(signal.SIGKILL)
    second.end()
    eventually(lambda: shards.life("violet") == "silent")
    assert "silent for" in shards.ask("shards").out

    done = shards.ask("shards", "remove", "violet")

    assert done.code == 0, done.err
    (slice_,) = shards.first.status()["slices"]
    assert done.out.splitlines() == [
        "shard violet: 1 copy deleted from the cache, and let go:",
        f"  Shard root|violet https://127.0.0.1:{second.port}",
        "1 endpoint goes from 1 slice of this shard",
        f"  {slice_['cluster']}|widgets: https://127.0.0.1:{second.port}/services/apiexport/{slice_['cluster']}/widgets",
        "a removal is kept there, upon which every process acts; who has is shown by",
        f"  kubectl --kubeconfig {shards.cache.data_dir.resolve() / 'cache.kubeconfig'} get removals",
    ]
    eventually(lambda: shards.listed(first) == [first.port])
    assert [one["name"] for one in shards.json("shards")["shards"]] == ["amber"]
    (record,) = Kubectl(shards.cache.data_dir / "cache.kubeconfig", "cache").one("removals")["items"]
    assert (record["metadata"]["name"], list(record["status"]["acknowledged"])) == ("shards.violet", ["amber"])
    first.wait_for_log("a removal was acted upon")
    again = shards.ask("shards", "remove", "violet")
    assert again.out.startswith("shard violet: 0 copies deleted"), "as often as one likes"
    assert "found 'vilet'; known are: amber" in shards.refusal("shards", "remove", "vilet")


def test_an_export_that_is_there_is_not_forgotten_and_one_that_nobody_knows_neither(shards: Shards) -> None:
    shards.second.kubectl()("apply", "-f", "examples/endpointslice/")
    eventually(
        lambda: (
            "found it at its home, shard violet; delete it there: kubectl delete apiexport widgets"
            in shards.ask("forget", "export", "root:example", "widgets").err
        )
    )

    assert "nothing is known of APIExport c1|nothing; held are: none" in shards.refusal(
        "forget", "export", "c1", "nothing"
    )


def test_the_cache_is_compared_adopted_and_pruned(shards: Shards) -> None:
    cache = Kubectl(shards.cache.data_dir / "cache.kubeconfig", "cache")
    eventually(
        lambda: shards.ask("replication", "status").out.startswith("shard amber: the lease of its segment is held")
    )
    assert shards.ask("replication", "adopt").out == ("let go: 0 objects that the store lacks, 0 copies in the cache\n")
    assert shards.ask("replication", "prune").out == (
        "nothing to prune: every copy in the cache is of a shard that is known\n"
    )

    stray = {"apiVersion": "apis.kcp.io/v1alpha1", "kind": "APIExport", "metadata": {"name": "stray"}}
    server = json.loads(cache("config", "view", "--raw", "-o", "json"))["clusters"][0]["cluster"]["server"]
    place = server.replace("shards/*/clusters/*", "shards/gone/clusters/c1")
    cache("--server", place, "create", "--validate=false", "-f", "-", stdin=json.dumps(stray))
    eventually(lambda: shards.json("replication", "status")["orphans"])

    shown = shards.ask("replication", "prune")
    assert shown.out == (
        "shard gone is not known, and has 1 copy in the cache\n"
        "  apiexports c1|stray\n"
        "nothing was deleted: say --yes to delete them\n"
    )
    assert shards.json("replication", "prune", "--yes")["deleted"] == 1
    assert cache("get", "apiexports") == ""


def test_metrics_are_there_for_the_administrator(shards: Shards) -> None:
    text = shards.first.kubectl()("get", "--raw", "/metrics")

    assert "kcpctl_held_endpoints 0" in text
    assert "kcpctl_lease_held 1" in text
    assert "kcpctl_build_info" in shards.cache.kubectl("cache", "cache.kubeconfig")("get", "--raw", "/metrics")


def test_a_process_that_has_no_shard_says_which_one_to_ask(shards: Shards) -> None:
    done = shards.ask("shards", shard=shards.cache)

    assert done.code == 2
    assert (
        "answers to status only; name the --data-dir of a process that `kcpctl run` of this version started" in done.err
    )
