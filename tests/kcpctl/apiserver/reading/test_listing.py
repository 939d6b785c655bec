"""List: what revision and match mean, row by row, and what the answers say."""

import asyncio

import pytest

from informers.tasks import background
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.reading import list_
from tests.kcpctl.apiserver.kinds import PLANETS, WIDGETS
from tests.kcpctl.apiserver.reading.conftest import FIRST, Asking

THEN, NOW = FIRST + 3, FIRST + 5
"""The revision with a, b, c in it, and the one after which b is gone and d is there."""


@pytest.fixture
async def full(asking: Asking) -> Asking:
    for name in "abc":
        await asking.put(name)
    await asking.remove("b")
    await asking.put("d")
    return asking


def failed(caught: pytest.ExceptionInfo[Failure]) -> tuple[int, str, str]:
    status = caught.value.status
    return status.code, status.reason, status.message


@pytest.mark.parametrize(
    ("query", "names", "revision"),
    [
        ({}, "acd", NOW),
        ({"limit": 2}, "ac", NOW),
        ({"limit": -1}, "acd", NOW),
        ({"resourceVersion": 0}, "acd", NOW),
        ({"resourceVersion": 0, "limit": 2}, "acd", NOW),
        ({"resourceVersion": 0, "limit": 2, "resourceVersionMatch": "NotOlderThan"}, "acd", NOW),
        ({"resourceVersion": THEN}, "acd", NOW),
        ({"resourceVersion": THEN, "resourceVersionMatch": "NotOlderThan"}, "acd", NOW),
        ({"resourceVersion": THEN, "resourceVersionMatch": "NotOlderThan", "limit": 2}, "ac", NOW),
        ({"resourceVersion": THEN, "resourceVersionMatch": "Exact"}, "abc", THEN),
        ({"resourceVersion": THEN, "resourceVersionMatch": "Exact", "limit": 2}, "ab", THEN),
        ({"resourceVersion": THEN, "limit": 2}, "ab", THEN),
        ({"resourceVersion": 1}, "acd", NOW),
        ({"resourceVersion": 1, "resourceVersionMatch": "NotOlderThan"}, "acd", NOW),
        ({"unknown": 1}, "acd", NOW),
    ],
)
async def test_revision_match_and_limit_decide_what_is_shown(
    full: Asking, query: dict[str, object], names: str, revision: int
):
    found = await full.list(**query)

    assert ("".join(found.names), found.revision) == (names, revision)


INVALID = 'ListOptions.meta.k8s.io "" is invalid: '


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"resourceVersionMatch": "Exact"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "NotOlderThan"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": 0},
            'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": 5, "continue_": "x"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
        ),
        (
            {"resourceVersionMatch": "Bogus", "resourceVersion": 5},
            'resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""',
        ),
        ({"sendInitialEvents": "true"}, "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
        (
            {"resourceVersionMatch": "Bogus", "sendInitialEvents": "false"},
            (
                "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
                "provided, "
                'resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", "", '
                "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]"
            ),
        ),
    ],
)
async def test_options_that_contradict_are_refused_field_by_field(full: Asking, query: dict[str, object], message: str):
    with pytest.raises(Failure) as caught:
        await full.list(**query)

    assert failed(caught) == (422, "Invalid", INVALID + message)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"resourceVersion": "abc"},
            (
                'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": '
                "invalid syntax"
            ),
        ),
        (
            {"resourceVersion": "-1", "resourceVersionMatch": "Exact"},
            (
                'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": '
                "invalid syntax"
            ),
        ),
        ({"limit": "abc"}, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ({"timeoutSeconds": "abc"}, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ({"labelSelector": "=x"}, "found '=', expected: !, identifier, or 'end of string'"),
        ({"fieldSelector": "bad"}, "invalid selector: 'bad'; can't understand 'bad'"),
        (
            {"fieldSelector": "spec.foo=1"},
            '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
    ],
)
async def test_options_that_cannot_be_read_are_a_400(full: Asking, query: dict[str, object], message: str):
    with pytest.raises(Failure) as caught:
        await full.list(**query)

    assert failed(caught) == (400, "BadRequest", message)


@pytest.mark.parametrize(
    ("query", "waited"),
    [
        ({}, 3.0),
        ({"resourceVersionMatch": "NotOlderThan"}, 3.0),
        ({"resourceVersionMatch": "Exact"}, 0.0),
        ({"limit": 2}, 0.0),
    ],
)
async def test_a_future_revision_is_a_504_and_only_inexact_reads_wait_for_it(
    full: Asking, query: dict[str, object], waited: float
):
    with pytest.raises(Failure) as caught:
        await full.list(resourceVersion=99_999_999, **query)

    assert failed(caught) == (504, "Timeout", f"Timeout: Too large resource version: 99999999, current: {NOW}")
    details = caught.value.status.details
    assert details is not None
    assert details.retry_after_seconds == (1 if waited else 0)
    assert full.clock.monotonic() == waited


async def test_a_cache_server_does_not_wait_for_a_future_revision(full: Asking):
    with pytest.raises(Failure) as caught:
        await full.list(resourceVersion=99_999_999, scope=Scope("*", "*", is_cache=True))

    details = caught.value.status.details
    assert details is not None
    assert (details.retry_after_seconds, full.clock.monotonic()) == (0, 0.0)


async def test_a_list_waits_for_a_revision_that_is_on_its_way(full: Asking):
    async with background(list_(full.world, full.call("list", resourceVersion=NOW + 1))) as [reading]:
        await asyncio.sleep(0)
        await full.put("e")

        assert len((await reading).items) == 4


@pytest.mark.parametrize("query", [{"resourceVersionMatch": "Exact"}, {"limit": 2}])
async def test_a_compacted_revision_is_a_410(full: Asking, query: dict[str, object]):
    await full.store.compact(NOW)

    with pytest.raises(Failure) as caught:
        await full.list(resourceVersion=THEN, **query)

    assert failed(caught) == (410, "Expired", "The resourceVersion for the provided list is too old.")
    assert (await full.list(resourceVersion=THEN)).names == ["a", "c", "d"]


async def test_objects_come_in_the_order_of_namespace_and_name(asking: Asking):
    for namespace, name in (("b", "a"), ("a", "b"), ("a-", "a"), ("a", "a"), ("a", "a-a")):
        await asking.put(name, namespace=namespace)

    found = await asking.list(namespace="")

    assert [obj["metadata"]["name"] for obj in found.objects] == ["a", "a", "a-a", "b", "a"]


async def test_an_absent_namespace_is_an_empty_list(full: Asking):
    found = await full.list(namespace="none")

    assert (found.names, found.revision, found.continue_, found.remaining) == ([], NOW, "", None)


async def test_another_cluster_is_another_world_and_the_wildcard_is_all_of_them(full: Asking):
    await full.put("mine", scope=Scope("other"))

    everywhere = await full.list(namespace="", scope=Scope("*"))

    assert (await full.list(scope=Scope("other"))).names == ["mine"]
    assert everywhere.names == ["mine", "a", "c", "d"]
    assert [obj["metadata"]["annotations"]["kcp.io/cluster"] for obj in everywhere.objects] == ["other"] + 3 * ["root"]


async def test_a_namespace_narrows_a_wildcard_list(full: Asking):
    await full.put("a", namespace="other")
    await full.put("z", scope=Scope("other"))

    assert (await full.list(scope=Scope("*"))).names == ["z", "a", "c", "d"]


CACHED = [(s, c) for s in ("amber", "beryl") for c in ("one", "two")]


@pytest.mark.parametrize("shard", ["*", "amber"])
@pytest.mark.parametrize("cluster", ["*", "two"])
async def test_on_a_cache_server_shard_and_cluster_each_narrow_the_list(asking: Asking, shard: str, cluster: str):
    for s, c in CACHED:
        await asking.put("p", served=PLANETS, scope=Scope(c, s, is_cache=True))

    found = await asking.list(served=PLANETS, scope=Scope(cluster, shard, is_cache=True))

    places = [obj["metadata"]["annotations"] for obj in found.objects]
    assert [(p["kcp.io/shard"], p["kcp.io/cluster"]) for p in places] == [
        (s, c) for s, c in CACHED if shard in ("*", s) and cluster in ("*", c)
    ]


async def test_items_of_built_ins_have_no_type_and_custom_ones_do(asking: Asking):
    await asking.put("a")
    await asking.put("w", served=WIDGETS)

    assert "kind" not in (await asking.list()).objects[0]
    assert (await asking.list(served=WIDGETS)).objects[0]["kind"] == "Widget"


async def test_a_long_list_lets_others_run_and_still_shows_one_revision(asking: Asking):
    for n in range(6001):
        await asking.put(f"n{n:05}")
    meanwhile = 0

    async def write() -> None:
        nonlocal meanwhile
        while True:
            meanwhile += 1
            await asking.put(f"n{meanwhile:05}-later")
            await asyncio.sleep(0)

    async with background(write()):
        await asyncio.sleep(0)
        result = await list_(asking.world, asking.call("list"))

    assert meanwhile > 3
    assert result.revision == FIRST + len(result.items)
    assert max(record.revision for record in result.items.records) <= result.revision
