"""What is wrong is one clear line: what was expected, what was found, where, and what to do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import Running, eventually, kcpctl, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running("serve", tmp_path_factory.mktemp("plain") / "data", "--in-memory") as process:
        yield process


def one_line(*arguments: object) -> str:
    done = kcpctl(*arguments)

    assert done.code not in (0, 130)
    assert not done.out
    (line,) = done.err.splitlines()
    return line


def run(tmp_path: Path, *arguments: object) -> str:
    return one_line("run", "--port", 0, "--data-dir", tmp_path / "data", *arguments)


def test_an_unreadable_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("clusters: [")

    assert f"expected YAML in {tmp_path / 'bad'}" in run(tmp_path, "examples/team.py", "--kubeconfig", tmp_path / "bad")
    missing = run(tmp_path, "examples/team.py", "--kubeconfig", tmp_path / "none")
    assert f"expected a kubeconfig at {tmp_path / 'none'}, found: No such file or directory" in missing
    assert "expected a kubeconfig at" in run(tmp_path, "--cache-kubeconfig", tmp_path / "none")


def test_a_wrong_context_names_those_that_are_there(tmp_path: Path, server: Running) -> None:
    kubeconfig = server.data_dir / "admin.kubeconfig"

    line = run(tmp_path, "examples/team.py", "--kubeconfig", kubeconfig, "--context", "amber")

    assert "expected a kubeconfig with a context named 'amber'" in line
    assert "found contexts 'kcpctl'; pass --context kcpctl" in line


def test_an_unreachable_server(tmp_path: Path, server: Running) -> None:
    kubeconfig = tmp_path / "gone.kubeconfig"
    text = (server.data_dir / "admin.kubeconfig").read_text()
    kubeconfig.write_text(text.replace(f":{server.port}", ":1"))

    done = kcpctl("run", "examples/team.py", "--kubeconfig", kubeconfig, "--data-dir", tmp_path / "data")

    *waits, last = done.err.splitlines()
    assert done.code == 2
    assert all("server does not answer yet" in line for line in waits)
    assert last.startswith(
        f"kcpctl: expected an API server at https://127.0.0.1:1 (context 'kcpctl' of {kubeconfig}), "
    )
    assert "ConnectionRefused" in last
    assert "--kubeconfig and --context" in last


def test_nothing_to_run_against_a_server_that_exists(tmp_path: Path, server: Running) -> None:
    line = run(tmp_path, "--kubeconfig", server.data_dir / "admin.kubeconfig")

    assert (
        "nothing would run: our own controllers are off (there is no cache server, --cache-kubeconfig names one)"
        in line
    )


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("json", "expected controllers in json, found none; decorate an async function"),
        ("no.such.module", "found no module 'no.such.module'"),
        ("examples/nothing.py", "examples/nothing.py"),
        ("examples/team.py:crew", "expected a controller 'crew' in examples/team.py"),
    ],
)
def test_a_module_without_controllers(tmp_path: Path, module: str, told: str) -> None:
    assert told in run(tmp_path, module)


@pytest.mark.parametrize(
    ("flag", "value", "told"),
    [
        ("--shard-label", "region", "expected a label such as region=eu for --shard-label, found 'region'"),
        (
            "--shard-base-url",
            "shard.example.com",
            "expected a URL such as https://a.example.com:6443 for --shard-base-url",
        ),
        ("--shard-label", "a=b --shard-label=a=c", "expected one value for each --shard-label, found a=b and a=c"),
        ("--shard-name", "Amber", "such as amber, for --shard-name, found 'Amber'"),
        ("--port", "many", "expected a whole number for --port, found 'many' (flag --port)"),
        ("--bind-address", "192.0.2.1", "expected an address to listen on, found 192.0.2.1"),
        ("--data-dir", "/proc/nowhere", "expected to write to the data directory /proc/nowhere"),
    ],
)
def test_a_setting_that_cannot_be(tmp_path: Path, flag: str, value: str, told: str) -> None:
    assert told in run(tmp_path, flag, *value.split())


@pytest.fixture
def published(shard: Running) -> Any:
    """The slice of the example, with the URL of the one shard."""
    shard.kubectl()("apply", "-f", "examples/endpointslice/")
    shard.kubectl()("wait", "apiexportendpointslices/widgets", "--for=condition=EndpointURLsReady", "--timeout=10s")
    return widgets(shard)


def widgets(shard: Running) -> Any:
    return shard.kubectl().one("apiexportendpointslices", "widgets")


def cache(shard: Running, verb: str, name: str, spec: object = None) -> None:
    """Write to the cache server behind everybody's back, where nothing is validated."""
    path = "/services/cache/shards/zinc/clusters/root/apis/core.kcp.io/v1alpha1/shards"
    target = ["--raw", path if verb == "create" else f"{path}/{name}", "-s", f"https://127.0.0.1:{shard.port}"]
    body = {"apiVersion": "core.kcp.io/v1alpha1", "kind": "Shard", "metadata": {"name": name}, "spec": spec}
    sent = {} if verb == "delete" else {"stdin": json.dumps(body)}
    shard.kubectl("cache", "cache.kubeconfig")(verb, *target, *(("-f", "-") if sent else ()), **sent)


def test_a_shard_with_an_unusable_url_is_told_once_and_published_nowhere(shard: Running, published: Any) -> None:
    cache(shard, "create", "odd", {"baseURL": "https://a", "virtualWorkspaceURL": "https://odd.example.com:port"})

    line = shard.wait_for_log("Shard has an unusable URL, correct its spec.virtualWorkspaceURL")
    assert "odd" in line
    assert "the port 'port' is not a number" in line
    (odd,) = [one for one in shard.status()["shards"] if one["name"] == "odd"]
    assert odd["problem"] == "the port 'port' is not a number"
    assert widgets(shard) == published
    cache(shard, "delete", "odd")
    eventually(lambda: [one["name"] for one in shard.status()["shards"]] == ["root"])
    assert widgets(shard) == published
    assert sum("unusable URL" in line for line in shard.err) == 1


def test_a_malformed_object_in_the_cache_is_told_and_loses_nothing(shard: Running, published: Any) -> None:
    cache(shard, "create", "broken", "text")

    line = shard.wait_for_log("Shard cannot be read, what was known of it stays")
    assert "zinc|root|broken" in line
    assert list(shard.status()["malformed"]) == ["cache: Shard zinc|root|broken"]
    assert widgets(shard) == published
    cache(shard, "delete", "broken")
    eventually(lambda: shard.status()["malformed"] == {})


@pytest.mark.parametrize("name", ["admin.kubeconfig", "cache.kubeconfig", "control.sock", "certificates/ca.key"])
def test_a_data_directory_in_which_something_else_is_in_the_way(tmp_path: Path, name: str) -> None:
    (tmp_path / "data" / name).mkdir(parents=True)

    line = run(tmp_path)

    assert f"in {tmp_path / 'data'}" in line or f"the data directory {tmp_path / 'data'}, but: {name}: " in line
    assert "--data-dir" in line
