"""Processes that work on servers of other processes: a cache server alone, and controllers against a kubeconfig."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import PROJECT, Kubectl, Running, eventually, running

TEAM = "examples/team.py"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running("cache", tmp_path_factory.mktemp("cache") / "data") as process:
        yield process


@pytest.fixture(scope="module")
def over_cache(tmp_path_factory: pytest.TempPathFactory, cache: Running) -> Iterator[Running]:
    """A shard over the cache server of another process."""
    options = ("--cache-kubeconfig", cache.data_dir / "cache.kubeconfig", "--shard-label", "region=eu")
    with running("run", tmp_path_factory.mktemp("shard") / "data", *options) as process:
        yield process


def test_a_shard_replicates_to_a_cache_server_of_its_own_process(cache: Running, over_cache: Running) -> None:
    over_cache.kubectl()("apply", "-f", "examples/endpointslice/")
    everything = cache.kubectl("cache", "cache.kubeconfig")

    eventually(lambda: "widgets" in everything("get", "apiexports", "-o", "name"))
    eventually(lambda: "region=eu" in everything("get", "shards", "--show-labels"))
    original = over_cache.kubectl().one("apiexportendpointslices", "widgets")
    (copy,) = eventually(lambda: everything.one("apiexportendpointslices")["items"])
    assert copy["metadata"]["uid"] == original["metadata"]["uid"]
    assert copy["metadata"]["annotations"]["kcp.io/shard"] == "root"
    over_cache.kubectl()("delete", "-f", "examples/endpointslice/")
    eventually(lambda: everything.one("apiexports")["items"] == [])


def test_our_controllers_run_against_a_shard_of_another_process(
    over_cache: Running, cache: Running, tmp_path: Path
) -> None:
    options = ("--kubeconfig", over_cache.data_dir / "admin.kubeconfig", "--context", "all")
    options += ("--cache-kubeconfig", cache.data_dir / "cache.kubeconfig")
    with running("run", tmp_path / "data", *options, ready=False) as process:
        report = eventually(lambda: status_of(process), what="controllers that have started")

        names = {one["name"] for one in report["controllers"]}
        assert names >= {"apiexportendpointslice", "replication-shards"}
        assert "shard-registration" not in names  # the shard does that itself, and nobody else may differ
        assert [(one["name"], len(one["sources"])) for one in report["shards"]] == [("root", 2)]
        assert process.stop() == 0


def test_a_controller_works_against_a_plain_server_and_is_quiet_when_all_is_right(tmp_path: Path) -> None:
    with running("serve", tmp_path / "server", "--in-memory") as server:
        kubectl = server.kubectl("kcpctl")
        kubectl("apply", "-f", "examples/team/crds.yaml")
        kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=10s")
        options = (TEAM, "--kubeconfig", server.data_dir / "admin.kubeconfig")
        with running("run", tmp_path / "controllers", *options, ready=False) as process:
            works(kubectl)
            report = eventually(lambda: status_of(process))
            assert [one["name"] for one in report["controllers"]] == ["team"]
            assert report["shards"] == []
            revision = kubectl.one("teams", "blue")["metadata"]["resourceVersion"]
            kubectl("annotate", "members", "--all", "note=looked-at")
            visits = report["controllers"][0]["outcomes"]["success"]
            eventually(lambda: status_of(process)["controllers"][0]["outcomes"]["success"] > visits)
            assert kubectl.one("teams", "blue")["metadata"]["resourceVersion"] == revision
            assert process.stop() == 0


def test_a_controller_alone_in_an_embedded_shard_finds_kinds_that_are_defined_later(tmp_path: Path) -> None:
    with running("run", tmp_path / "data", TEAM, "--in-memory") as process:
        process.kubectl()("apply", "-f", "examples/team/crds.yaml")
        process.kubectl()("wait", "crd", "--all", "--for=condition=Established", "--timeout=10s")

        works(process.kubectl())
        assert [one["name"] for one in process.status()["controllers"]] == ["team"]


def test_a_controller_runs_beside_ours_when_asked_to(tmp_path: Path) -> None:
    with running("run", tmp_path / "data", TEAM, "--with-builtin", "--in-memory") as process:
        process.kubectl()("apply", "-f", "examples/endpointslice/")
        ready = "--for=condition=EndpointURLsReady"
        process.kubectl()("wait", "apiexportendpointslices/widgets", ready, "--timeout=10s")

        assert {"team", "apiexportendpointslice"} <= {one["name"] for one in process.status()["controllers"]}


def test_where_the_data_directory_is_anothers_controllers_run_without_a_status(tmp_path: Path) -> None:
    with running("serve", tmp_path / "server", "--in-memory") as server:
        server.kubectl("kcpctl")("apply", "-f", "examples/team/crds.yaml")
        options = (TEAM, "--kubeconfig", server.data_dir / "admin.kubeconfig")
        with running("run", server.data_dir, *options, ready=False) as process:
            line = process.wait_for_log("kcpctl status cannot ask this process")

            assert f"in use by process {server.process.pid}" in line
            works(server.kubectl("kcpctl"))


def status_of(process: Running) -> Any:
    """Return the report once every controller has started."""
    if not (process.data_dir / "control.sock").exists():
        return None
    report = process.status()
    return report if all(one["started"] for one in report["controllers"]) else None


def works(kubectl: Kubectl) -> None:
    """Have the example controller count the members of a team."""
    kubectl("apply", "-f", "examples/team/team.yaml")
    uid = kubectl.one("teams", "blue")["metadata"]["uid"]
    members = (PROJECT / "examples/team/members.yaml.in").read_text()
    kubectl("apply", "-f", "-", stdin=members.replace("TEAM_UID", uid))
    eventually(lambda: kubectl.one("teams", "blue").get("status", {}).get("members") == 2)
