"""Several shards over one cache server, in processes of their own: URLs come, and stay when a process goes."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import Running, eventually, kcpctl, running

SLICES = "apiexportendpointslices"
READY = "--for=condition=EndpointURLsReady"


class Pair:
    """A shard with the cache server in it, and a second one over that, which comes and goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._first, self._second = ExitStack(), ExitStack()
        self.first = self._first.enter_context(running("run", folder / "first"))
        self.port = 0

    def start_second(self, *, ready: bool = True) -> Running:
        """Start the second shard, always at the same port."""
        options = ("--shard-name", "amber", "--cache-kubeconfig", self.folder / "first" / "cache.kubeconfig")
        second = running("run", self.folder / "second", *options, port=self.port, ready=ready)
        process = self._second.enter_context(second)
        self.port = process.port or self.port
        return process

    def stop_second(self) -> None:
        """Stop it; its data stays."""
        self._second.close()

    def restart_first(self) -> None:
        """Start the first one again, where it was."""
        self.first = self._first.enter_context(running("run", self.folder / "first", port=self.first.port))

    def stop_first(self) -> None:
        """Stop it, and the cache server with it."""
        self._first.close()

    def close(self) -> None:
        """Stop both."""
        self.stop_second()
        self.stop_first()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path)
    try:
        yield made
    finally:
        made.close()


def apply(shard: Running) -> None:
    shard.kubectl()("apply", "-f", "examples/endpointslice/")
    shard.kubectl()("wait", f"{SLICES}/widgets", READY, "--timeout=10s")


def hosts(shard: Running) -> list[int]:
    """Return the ports in the published URLs, as they are listed."""
    status: Any = shard.kubectl().one(SLICES, "widgets").get("status", {})
    urls = [endpoint["url"] for endpoint in status.get("endpoints") or ()]
    assert urls == sorted(urls)
    return [int(url.split(":")[2].split("/")[0]) for url in urls]


def conditions(shard: Running) -> dict[str, tuple[str, str]]:
    found = shard.kubectl().one(SLICES, "widgets")["status"]["conditions"]
    return {one["type"]: (one["status"], one.get("reason", "")) for one in found}


def test_slices_in_both_shards_list_both_and_keep_both_when_one_stops(pair: Pair) -> None:
    apply(pair.first)
    second = pair.start_second()
    hint = f"try: python -m kcpctl shards --data-dir {pair.folder / 'second'}"
    eventually(lambda: hint in "".join(second.out))
    assert "examples/" not in "".join(second.out), "who joins others has come for their slices"
    apply(second)
    both = sorted([pair.first.port, second.port])

    for shard in (pair.first, second):
        eventually(lambda shard=shard: hosts(shard) == both)  # type: ignore[misc]
        assert set(conditions(shard).values()) == {("True", "")}

    pair.stop_second()
    pair.first.kubectl()("annotate", SLICES, "widgets", "touched=yes")  # it is looked at again
    assert hosts(pair.first) == both

    again = pair.start_second()
    assert hosts(pair.first) == hosts(again) == both
    report = pair.first.status()
    assert {shard["name"]: len(shard["sources"]) for shard in report["shards"]} == {"root": 2, "amber": 1}


def test_a_shard_starts_and_publishes_without_the_cache_and_sees_the_others_when_it_comes(pair: Pair) -> None:
    pair.stop_first()

    second = pair.start_second()
    apply(second)

    assert hosts(second) == [second.port]
    report = second.status()
    assert report["cache"]["reachable"] is False
    assert [one["complete"] for one in report["slices"]] == [False]

    pair.restart_first()
    eventually(lambda: hosts(second) == sorted([pair.first.port, second.port]), within=60)
    assert second.status()["slices"][0]["complete"] is True


def test_what_is_published_stays_when_a_shard_restarts_without_the_cache(pair: Pair) -> None:
    second = pair.start_second()
    apply(second)
    both = sorted([pair.first.port, second.port])
    eventually(lambda: hosts(second) == both)
    before = second.kubectl().one(SLICES, "widgets")
    pair.stop_second()
    pair.stop_first()

    second = pair.start_second()
    eventually(lambda: all(one["started"] for one in second.status()["controllers"]))

    assert second.kubectl().one(SLICES, "widgets") == before


def test_a_label_of_one_shard_moves_it_into_a_partition_of_another(pair: Pair) -> None:
    second = pair.start_second()
    slices = pair.first.kubectl()
    slices("apply", "-f", "examples/endpointslice/")
    slices("patch", SLICES, "widgets", "--type=merge", "-p", '{"spec":{"partition":"europe"}}')
    eventually(lambda: conditions(pair.first).get("PartitionValid") == ("True", "") and hosts(pair.first) == [])

    second.kubectl("root")("label", "shards", "amber", "region=eu")

    eventually(lambda: hosts(pair.first) == [second.port])


def test_a_second_shard_without_a_name_of_its_own_is_refused_before_it_harms_the_first(pair: Pair) -> None:
    apply(pair.first)
    eventually(lambda: len(pair.first.status()["shards"][0]["sources"]) == 2)
    options = ("--cache-kubeconfig", pair.folder / "first" / "cache.kubeconfig", "--data-dir", pair.folder / "nameless")

    done = kcpctl("run", "--port", 0, *options)

    assert done.code == 2
    waiting, *ending = done.err.splitlines(keepends=True)
    assert "shard's name is another process' in the cache, waiting whether that one is still there" in waiting
    assert f"url=https://127.0.0.1:{pair.first.port}" in waiting, "so that it is known at once which"
    assert "".join(ending) == (
        f"kcpctl: expected to be the only shard named 'root', found another one at https://127.0.0.1:{pair.first.port} "
        "in the cache; give this one a name of its own with --shard-name\n"
    )
    assert hosts(pair.first) == [pair.first.port]
