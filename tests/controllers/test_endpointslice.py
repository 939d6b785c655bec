"""What a slice publishes and says, in every state that its world can be in."""

from typing import Any

import msgspec
import pytest

from controllers.kinds import EXPORTS, LOGICAL_CLUSTERS, PARTITIONS, SLICES
from informers.api.objects import Object
from informers.cache.notices import Evidence
from tests.controllers.world import Knowledge, made, shard

AMBER = shard("amber", home="amber", region="eu")
BERYL = shard("beryl", home="beryl", region="us")
EXPORT = made(EXPORTS, "widgets", "c1", annotations={"kcp.io/path": "root:one"})


def url(name: str, cluster: str = "c1") -> str:
    return f"https://{name}:1/services/apiexport/{cluster}/widgets"


def slice_(*published: str, path: str = "", partition: str = "", conditions: list[Any] | None = None) -> Object[Any]:
    spec: dict[str, Any] = {"export": {"name": "widgets"} | ({"path": path} if path else {})}
    if partition:
        spec["partition"] = partition
    status: dict[str, Any] = {"endpoints": [{"url": u} for u in published]} if published else {}
    if conditions is not None:
        status["conditions"] = conditions
    return made(SLICES, "widgets", "c1", spec=spec, status=status)


async def wished(known: Knowledge, obj: Object[Any]) -> tuple[list[str] | None, dict[str, tuple[str, ...]]] | None:
    """Return (endpoints, condition type → (status, reason, message)) of the wish."""
    result = await known.slices()(obj, known.cluster())
    if result is None:
        return None
    status = msgspec.json.decode(msgspec.json.encode(result.status))
    conditions = {c["type"]: (c["status"], c.get("reason", ""), c.get("message", "")) for c in status["conditions"]}
    return [e["url"] for e in status.get("endpoints") or []], conditions


def knowing(*objects: Object[Any], synced: bool = True) -> Knowledge:
    known = Knowledge(synced=synced)
    for obj in objects:
        known.show(obj, "cache" if obj.key.shard else "local")
    return known


TRUE = ("True", "", "")


async def test_a_slice_lists_every_shard_with_all_conditions_true() -> None:
    assert await wished(knowing(AMBER, BERYL, EXPORT), slice_()) == (
        [url("amber"), url("beryl")],
        {"APIExportValid": TRUE, "EndpointURLsReady": TRUE, "PartitionValid": TRUE},
    )


async def test_what_is_right_already_is_wished_unchanged() -> None:
    known = knowing(AMBER, BERYL, EXPORT)
    first = await known.slices()(slice_(), known.cluster())
    assert first is not None
    status = msgspec.json.decode(msgspec.json.encode(first.status))
    await known.clock.advance(60)

    done = made(SLICES, "widgets", "c1", spec={"export": {"name": "widgets"}}, status=status)
    again = await known.slices()(done, known.cluster())

    assert again is not None
    assert msgspec.json.decode(msgspec.json.encode(again.status)) == status


@pytest.mark.parametrize("path", ["", "c1", "root:one"])
async def test_an_export_is_found_by_path_and_by_cluster_name_and_urls_carry_the_name(path: str) -> None:
    found = await wished(knowing(AMBER, EXPORT), slice_(path=path))

    assert found is not None
    assert found[0] == [url("amber")]


async def test_an_export_of_another_shard_is_found_in_the_cache() -> None:
    far = made(EXPORTS, "widgets", "c9", shard="beryl", annotations={"kcp.io/path": "root:far"})

    found = await wished(knowing(AMBER, far), slice_(path="root:far"))

    assert found is not None
    assert found[0] == [url("amber", "c9")]


async def test_one_path_on_two_shards_resolves_locally_first() -> None:
    far = made(EXPORTS, "widgets", "c9", shard="beryl", annotations={"kcp.io/path": "root:one"})

    found = await wished(knowing(AMBER, EXPORT, far), slice_(path="root:one"))

    assert found is not None
    assert found[0] == [url("amber", "c1")]


async def test_two_exports_of_one_path_elsewhere_keep_the_endpoints_and_are_tried_again() -> None:
    twins = [
        made(EXPORTS, "widgets", cluster, shard=home, annotations={"kcp.io/path": "root:far"})
        for cluster, home in (("c8", "beryl"), ("c9", "coral"))
    ]
    known = knowing(AMBER, *twins)
    obj = slice_(url("amber", "c9"), path="root:far")

    result = await known.slices()(obj, known.cluster())

    assert result is not None
    assert result.error is not None
    assert "multiple APIExports found for root:far:widgets: in c8, c9" in str(result.error)
    assert await wished(known, obj) == (
        [url("amber", "c9")],
        {
            "APIExportValid": ("False", "InternalError", "Error getting APIExport root:far|widgets"),
            "EndpointURLsReady": ("Unknown", "ErrorGeneratingURLs", ""),
        },
    )


async def test_while_two_exports_have_one_path_the_shards_of_what_is_published_are_followed_all_the_same() -> None:
    def knowing_two(*shards: Object[Any], **partition: Any) -> Knowledge:
        far = [made(EXPORTS, "widgets", c, shard=c, annotations={"kcp.io/path": "root:far"}) for c in ("c8", "c9")]
        return knowing(*shards, *far, *([made(PARTITIONS, "p", "c1", **partition)] if partition else []))

    async def left(known: Knowledge, obj: Object[Any]) -> list[str] | None:
        found = await wished(known, obj)
        assert found is not None
        assert found[1]["APIExportValid"][:2] == ("False", "InternalError")
        return found[0]

    both = slice_(url("amber", "c9"), url("beryl", "c9"), path="root:far")
    known = knowing_two(AMBER, BERYL)
    assert await left(known, both) == [url("amber", "c9"), url("beryl", "c9")]
    known.show(shard("beryl", home="beryl", url="https://moved:1"), "cache")
    assert await left(known, both) == [url("amber", "c9"), url("moved", "c9")], "and none of c8 is added"

    of_europe = slice_(url("amber", "c9"), url("beryl", "c9"), path="root:far", partition="p")
    known = knowing_two(AMBER, BERYL, spec={"selector": {"matchLabels": {"region": "eu"}}})
    assert await left(known, of_europe) == [url("amber", "c9")]
    assert await left(knowing_two(AMBER, BERYL), of_europe) == [], "a partition that is gone takes all along"


MISSING = {
    "APIExportValid": ("False", "APIExportNotFound", "Error getting APIExport c1|widgets"),
    "EndpointURLsReady": ("False", "ErrorGeneratingURLs", ""),
}


async def test_an_export_that_was_never_there_is_said_so() -> None:
    assert await wished(knowing(AMBER), slice_()) == ([], MISSING)


@pytest.mark.parametrize("path", ["", "c1", "root:one"])
async def test_an_export_whose_home_is_here_and_is_not_there_empties_the_slice(path: str) -> None:
    found = await wished(knowing(AMBER), slice_(url("amber"), path=path))

    assert found is not None
    assert found[0] == []
    assert found[1]["APIExportValid"][1] == "APIExportNotFound"


async def test_a_slice_without_endpoints_has_no_such_field() -> None:
    known = knowing(AMBER)
    result = await known.slices()(slice_(url("amber")), known.cluster())

    assert result is not None
    assert isinstance(result.status, dict)
    assert result.status["endpoints"] is None


async def test_a_cluster_of_the_same_path_here_says_nothing_of_an_export_that_is_elsewhere() -> None:
    published = (url("amber", "c9"), url("beryl", "c9"))

    found = await wished(knowing(AMBER), slice_(*published, path="root:one"))

    assert found is not None
    assert found[0] == list(published)
    assert found[1]["EndpointURLsReady"][:2] == ("Unknown", "EndpointsHeld")


async def test_an_export_deleted_before_our_eyes_empties_the_slice() -> None:
    far = made(EXPORTS, "widgets", "c9", shard="beryl", annotations={"kcp.io/path": "root:far"})
    known = knowing(AMBER, far)
    known.lose(far, "cache")

    found = await wished(known, slice_(url("amber", "c9"), path="root:far"))

    assert found is not None
    assert found[0] == []


async def test_an_export_that_a_list_does_not_show_any_more_is_held() -> None:
    far = made(EXPORTS, "widgets", "c9", shard="beryl", annotations={"kcp.io/path": "root:far"})
    known = knowing(AMBER, far)
    known.lose(far, "cache", Evidence.ABSENT_IN_NEW_HISTORY)

    old = await wished(known, slice_(url("amber", "c9"), path="root:far"))
    new = await wished(known, slice_(path="root:far"))

    assert old == new
    assert old is not None
    assert old[0] == [url("amber", "c9")]
    status, reason, message = old[1]["EndpointURLsReady"]
    assert (status, reason) == ("Unknown", "EndpointsHeld")
    assert message == "APIExport root:far|widgets is held: it is not listed any more (since 2026-01-01T00:00:00Z)"


@pytest.mark.parametrize("missing", [("c8",), ("c9",), ("c8", "c9")], ids=["the other", "its own", "both"])
async def test_of_two_exports_of_one_path_those_that_are_held_count_too(missing: tuple[str, ...]) -> None:
    twins = {
        cluster: made(EXPORTS, "widgets", cluster, shard=home, annotations={"kcp.io/path": "root:far"})
        for cluster, home in (("c8", "beryl"), ("c9", "coral"))
    }
    known = knowing(AMBER, *twins.values())
    for cluster in missing:
        known.lose(twins[cluster], "cache", Evidence.ABSENT_IN_NEW_HISTORY)

    found = await wished(known, slice_(url("amber", "c9"), path="root:far"))

    assert found is not None
    assert found[0] == [url("amber", "c9")]
    assert found[1]["APIExportValid"][:2] == ("False", "InternalError")


async def test_of_two_exports_of_one_path_one_that_was_deleted_does_not_count() -> None:
    twins = [
        made(EXPORTS, "widgets", cluster, shard=home, annotations={"kcp.io/path": "root:far"})
        for cluster, home in (("c8", "beryl"), ("c9", "coral"))
    ]
    known = knowing(AMBER, *twins)
    known.lose(twins[1], "cache")

    found = await wished(known, slice_(url("amber", "c9"), path="root:far"))

    assert found is not None
    assert found[0] == [url("amber", "c8")]
    assert found[1]["APIExportValid"] == TRUE


async def test_an_export_here_goes_before_one_of_the_same_path_that_is_held() -> None:
    far = made(EXPORTS, "widgets", "c9", shard="beryl", annotations={"kcp.io/path": "root:one"})
    known = knowing(AMBER, EXPORT, far)
    known.lose(far, "cache", Evidence.ABSENT_IN_NEW_HISTORY)

    found = await wished(known, slice_(path="root:one"))

    assert found is not None
    assert found[0] == [url("amber")]


async def test_an_export_that_nobody_knows_after_a_restart_keeps_its_endpoints() -> None:
    published = (url("amber", "c9"), url("beryl", "c9"))

    found = await wished(knowing(AMBER), slice_(*published, path="root:far"))

    assert found is not None
    assert found[0] == list(published)
    assert found[1]["EndpointURLsReady"][:2] == ("Unknown", "EndpointsHeld")


def far(cluster: str, *, path: str = "root:far") -> Object[Any]:
    return made(EXPORTS, "widgets", cluster, shard="beryl", annotations={"kcp.io/path": path})


async def test_urls_for_another_cluster_stay_while_nobody_saw_the_export_leave_it() -> None:
    found = await wished(knowing(AMBER, far("c9")), slice_(url("amber", "c8"), path="root:far"))

    assert found is not None
    assert found[0] == [url("amber", "c8"), url("amber", "c9")]
    assert found[1]["EndpointURLsReady"] == (
        "Unknown",
        "EndpointsHeld",
        f"{url('amber', 'c8')} is held: APIExport c8|widgets may still be there (since 2026-01-01T00:00:00Z)",
    )


@pytest.mark.parametrize("server", ["cache", "local"])
async def test_urls_for_another_cluster_stay_while_the_export_there_is_held_under_any_path(server: str) -> None:
    other = made(
        EXPORTS, "widgets", "c8", shard="beryl" if server == "cache" else "", annotations={"kcp.io/path": "root:other"}
    )
    known = knowing(AMBER, far("c9"), other)
    if server == "local":
        known.show(made(LOGICAL_CLUSTERS, "cluster", "c8", annotations={"kcp.io/path": "root:other"}))
    known.lose(other, server, Evidence.ABSENT_IN_NEW_HISTORY)

    found = await wished(known, slice_(url("amber", "c8"), path="root:far"))

    assert found is not None
    assert found[0] == [url("amber", "c8"), url("amber", "c9")]


def deleted_elsewhere() -> Knowledge:
    known = knowing(AMBER, far("c8"))
    known.lose(far("c8"), "cache")
    known.show(far("c9"), "cache")
    return known


@pytest.mark.parametrize(
    ("known", "path"),
    [
        (deleted_elsewhere(), "root:far"),
        (knowing(AMBER, far("c9"), far("c8", path="root:other")), "root:far"),
        (knowing(AMBER, far("c9"), made(LOGICAL_CLUSTERS, "cluster", "c8")), "root:far"),
        (knowing(AMBER, far("c9")), "c9"),
    ],
    ids=["deleted", "renamed", "its home is here, without it", "the slice names the cluster"],
)
async def test_urls_for_another_cluster_go_with_the_export_that_evidently_left_it(known: Knowledge, path: str) -> None:
    found = await wished(known, slice_(url("amber", "c8"), path=path))

    assert found is not None
    assert found[0] == [url("amber", "c9")]
    assert found[1]["EndpointURLsReady"] == TRUE


async def test_an_export_that_comes_here_takes_the_place_of_one_elsewhere() -> None:
    found = await wished(knowing(AMBER, EXPORT), slice_(url("amber", "c9"), path="root:one"))

    assert found is not None
    assert found[0] == [url("amber")]


async def test_a_url_that_matches_no_known_shard_after_a_restart_is_held() -> None:
    found = await wished(knowing(AMBER, EXPORT), slice_(url("amber"), url("beryl")))

    assert found is not None
    assert found[0] == [url("amber"), url("beryl")]
    assert found[1]["EndpointURLsReady"][:2] == ("Unknown", "EndpointsHeld")


async def test_a_deleted_shard_goes_and_a_missing_one_is_held() -> None:
    known = knowing(AMBER, BERYL, EXPORT)
    known.lose(BERYL, "cache", Evidence.ABSENT_IN_NEW_HISTORY)
    found = await wished(known, slice_(url("amber"), url("beryl")))
    assert found is not None
    assert found[0] == [url("amber"), url("beryl")]

    known.show(BERYL, "cache")
    known.lose(BERYL, "cache", Evidence.DELETED_EVENT)
    assert await wished(known, slice_(url("amber"), url("beryl"))) == (
        [url("amber")],
        {"APIExportValid": TRUE, "EndpointURLsReady": TRUE, "PartitionValid": TRUE},
    )


async def test_no_shard_known_and_nothing_published_says_so() -> None:
    assert await wished(knowing(EXPORT), slice_()) == (
        [],
        {
            "APIExportValid": TRUE,
            "EndpointURLsReady": ("False", "ErrorGeneratingURLs", "no Shards known"),
            "PartitionValid": TRUE,
        },
    )


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"matchLabels": {"region": "eu"}}, ["amber"]),
        ({}, ["amber", "beryl"]),
        (None, []),
        ({"matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["eu"]}]}, ["beryl"]),
    ],
)
async def test_a_partition_selects_by_labels_and_none_selects_nothing(selector: Any, expected: list[str]) -> None:
    spec = {} if selector is None else {"selector": selector}
    known = knowing(AMBER, BERYL, EXPORT, made(PARTITIONS, "p", "c1", spec=spec))

    found = await wished(known, slice_(url("amber"), partition="p"))

    assert found is not None
    assert found[0] == [url(name) for name in expected]
    assert found[1]["PartitionValid"] == TRUE


async def test_a_missing_partition_empties_the_slice() -> None:
    found = await wished(knowing(AMBER, EXPORT), slice_(url("amber"), partition="p"))

    assert found == (
        [],
        {
            "APIExportValid": TRUE,
            "PartitionValid": ("False", "PartitionInvalidReference", 'partition.topology.kcp.io "p" not found'),
            "EndpointURLsReady": ("False", "ErrorGeneratingURLs", ""),
        },
    )


async def test_a_partition_of_another_cluster_is_not_ours() -> None:
    known = knowing(AMBER, EXPORT, made(PARTITIONS, "p", "c2", spec={"selector": {}}))

    found = await wished(known, slice_(partition="p"))

    assert found is not None
    assert found[1]["PartitionValid"][1] == "PartitionInvalidReference"


@pytest.mark.parametrize("selector", [{"matchExpressions": [{"key": "a", "operator": "Foo"}]}, {"matchLabels": "text"}])
async def test_an_unusable_selector_keeps_the_endpoints(selector: Any) -> None:
    known = knowing(AMBER, EXPORT, made(PARTITIONS, "p", "c1", spec={"selector": selector}))

    found = await wished(known, slice_(url("amber"), url("beryl"), partition="p"))

    assert found is not None
    assert found[0] == [url("amber"), url("beryl")]
    assert found[1]["PartitionValid"][:2] == ("False", "PartitionInvalidReference")
    assert found[1]["EndpointURLsReady"][:2] == ("False", "ErrorGeneratingURLs")


async def test_before_the_cache_was_seen_published_endpoints_are_left_alone() -> None:
    local = shard("amber", region="eu")

    assert await wished(knowing(local, EXPORT, synced=False), slice_(url("beryl"))) is None


async def test_before_the_cache_was_seen_an_empty_slice_gets_the_local_shard() -> None:
    found = await wished(knowing(shard("amber"), shard("other"), EXPORT, synced=False), slice_())

    assert found is not None
    assert found[0] == [url("amber")]


async def test_before_the_cache_was_seen_a_partition_that_excludes_the_local_shard_leaves_it_empty() -> None:
    partition = made(PARTITIONS, "p", "c1", spec={"selector": {"matchLabels": {"region": "us"}}})

    found = await wished(knowing(shard("amber", region="eu"), EXPORT, partition, synced=False), slice_(partition="p"))

    assert found is not None
    assert found[0] == []


@pytest.mark.parametrize("objects", [(EXPORT,), (shard("amber"),), ()])
async def test_before_the_cache_was_seen_nothing_is_said_of_what_is_not_known_locally(objects: Any) -> None:
    assert await wished(knowing(*objects, synced=False), slice_()) is None


async def test_an_unreachable_cache_that_was_seen_before_takes_nothing_away_and_local_evidence_still_counts() -> None:
    known = knowing(
        AMBER, BERYL, EXPORT, made(PARTITIONS, "p", "c1", spec={"selector": {"matchLabels": {"region": "us"}}})
    )

    found = await wished(known, slice_(url("amber"), url("beryl")))
    assert found is not None
    assert found[0] == [url("amber"), url("beryl")]

    narrowed = await wished(known, slice_(url("amber"), url("beryl"), partition="p"))
    assert narrowed is not None
    assert narrowed[0] == [url("beryl")]


async def test_conditions_of_others_stay() -> None:
    foreign = [{"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]

    found = await wished(knowing(AMBER, EXPORT), slice_(conditions=foreign))

    assert found is not None
    assert next(iter(found[1])) == "Ready"
