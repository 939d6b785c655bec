"""Watch: where it begins, what its events are, and how it ends."""

import asyncio
import json
from typing import Any

import pytest

from informers.tasks import background
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.reading import watching
from kcpctl.apiserver.storage.history import Window
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import World
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, PLANETS, FixedCatalog
from tests.kcpctl.apiserver.reading.conftest import FIRST, Asking, said

NOW = FIRST + 3
STATE = [("ADDED", "a", FIRST + 3), ("ADDED", "b", FIRST + 2)]
LATER = [("ADDED", "b", FIRST + 2), ("MODIFIED", "a", FIRST + 3)]
LIVE = ("ADDED", "z", NOW + 1)
BOOKMARK = ("BOOKMARK", "", NOW)
ALL = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
NONE = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}
MARKED = {"allowWatchBookmarks": "true"}


@pytest.fixture
async def full(asking: Asking) -> Asking:
    await asking.put("a")
    await asking.put("b")
    await asking.put("a", data={"x": "1"})
    return asking


async def write_after(asking: Asking, seconds: float, name: str = "z") -> None:
    await asking.clock.sleep(seconds)
    await asking.put(name)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [*STATE, LIVE]),
        ({"resourceVersion": 0}, [*STATE, LIVE]),
        ({"resourceVersion": FIRST + 1}, [*LATER, LIVE]),
        ({"resourceVersion": NOW}, [LIVE]),
        ({"limit": 1}, [*STATE, LIVE]),
        (MARKED, [*STATE, BOOKMARK, LIVE]),
        (MARKED | {"resourceVersion": 0}, [*STATE, BOOKMARK, LIVE]),
        (MARKED | {"resourceVersion": FIRST + 1}, [*LATER, LIVE]),
        (ALL, [*STATE, LIVE]),
        (ALL | MARKED, [*STATE, BOOKMARK, LIVE]),
        (ALL | MARKED | {"resourceVersion": 0}, [*STATE, BOOKMARK, LIVE]),
        (ALL | MARKED | {"resourceVersion": FIRST + 1}, [*STATE, BOOKMARK, LIVE]),
        (NONE, [LIVE]),
        (NONE | MARKED, [LIVE]),
        (NONE | {"resourceVersion": 0}, [LIVE]),
        (NONE | {"resourceVersion": FIRST + 1}, [*LATER, LIVE]),
    ],
)
async def test_options_decide_where_a_watch_begins(full: Asking, query: dict[str, Any], expected: list[Any]):
    running = full.watch(timeoutSeconds=2, **query)
    async with background(write_after(full, 1)):
        events = await running.until_end()

    assert said(events) == expected
    assert full.clock.monotonic() == 2.0


_BOOKMARK = (
    b'{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"1003"%b}}}\n'
)


async def test_the_bookmark_that_ends_the_state_says_so_and_others_do_not(full: Asking):
    events = await full.watch(timeoutSeconds=90, fieldSelector="metadata.name=a", **MARKED).until_end()

    assert [event.line for event in events[1:]] == [
        _BOOKMARK % b',"annotations":{"k8s.io/initial-events-end":"true"}',
        _BOOKMARK % b"",
        _BOOKMARK % b"",
    ]


INVALID = 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: '


@pytest.mark.parametrize(
    ("query", "code", "reason", "message"),
    [
        (
            {"sendInitialEvents": "true"},
            422,
            "Invalid",
            INVALID + "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
            422,
            "Invalid",
            INVALID + "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"resourceVersionMatch": "NotOlderThan"},
            422,
            "Invalid",
            INVALID + "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (
            {"resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"},
            422,
            "Invalid",
            INVALID + "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (
            ALL | {"continue": "x"},
            422,
            "Invalid",
            INVALID + "Forbidden: resourceVersionMatch is forbidden when continue is provided",
        ),
        (
            {"resourceVersion": "abc"},
            500,
            "",
            'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
        ),
        ({"timeoutSeconds": "abc"}, 400, "BadRequest", 'strconv.ParseInt: parsing "abc": invalid syntax'),
    ],
)
async def test_what_makes_no_sense_fails_before_anything_is_sent(
    full: Asking, query: dict[str, str], code: int, reason: str, message: str
):
    with pytest.raises(Failure) as caught:
        full.watch(**query)

    status = caught.value.status
    assert (status.code, status.reason, status.message) == (code, reason, message)


async def test_a_revision_older_than_history_is_one_error_event_and_the_end(full: Asking):
    await full.store.compact(NOW)
    await full.put("z")

    events = await full.watch(resourceVersion=FIRST + 1).until_end()

    assert [json.loads(event.line) for event in events] == [
        {
            "type": "ERROR",
            "object": {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": "too old resource version: 1001 (1003)",
                "reason": "Expired",
                "code": 410,
            },
        }
    ]


async def test_a_compacted_revision_still_gives_the_state(full: Asking):
    await full.store.compact(NOW)

    events = await full.watch(resourceVersion=FIRST + 1, timeoutSeconds=1, **ALL).until_end()

    assert said(events) == STATE


async def test_a_shard_stays_silent_until_a_future_revision_has_passed(full: Asking):
    running = full.watch(resourceVersion=NOW + 1, timeoutSeconds=90, **MARKED)
    async with background(write_after(full, 65, "skipped"), write_after(full, 66, "seen")):
        events = await running.until_end()

    assert said(events) == [("ADDED", "seen", NOW + 2), ("BOOKMARK", "", NOW + 2)]
    assert full.clock.monotonic() == 90.0


async def test_a_state_of_a_future_revision_is_an_error_event_after_three_seconds(full: Asking):
    events = await full.watch(resourceVersion=99_999_999, **ALL).until_end()

    assert full.clock.monotonic() == 3.0
    assert [event.type for event in events] == ["ERROR"]
    status = json.loads(events[0].body)
    assert (status["code"], status["message"]) == (
        504,
        f"Timeout: Too large resource version: 99999999, current: {NOW}",
    )


@pytest.mark.parametrize("query", [{}, ALL, ALL | MARKED, NONE])
async def test_a_cache_server_answers_410_to_every_watch_from_the_future(full: Asking, query: dict[str, str]):
    scope = Scope("*", "*", is_cache=True)

    events = await full.watch(resourceVersion=NOW + 1, scope=scope, **query).until_end()

    assert [(event.type, json.loads(event.body)["code"]) for event in events] == [("ERROR", 410)]


async def test_objects_enter_and_leave_a_selection(asking: Asking):
    """The recorded case: off, on, changed, off, on, deleted."""
    await asking.put("w", labels={"sel": "off"})
    await asking.put("w", labels={"sel": "on"})
    await asking.put("w", labels={"sel": "on"}, data={"x": "1"})
    await asking.put("w", labels={"sel": "off"})
    await asking.put("w", labels={"sel": "on"})
    await asking.remove("w")

    events = await asking.watch(resourceVersion=FIRST, labelSelector="sel=on", timeoutSeconds=1).until_end()

    assert said(events) == [
        ("ADDED", "w", FIRST + 2),
        ("MODIFIED", "w", FIRST + 3),
        ("DELETED", "w", FIRST + 4),
        ("ADDED", "w", FIRST + 5),
        ("DELETED", "w", FIRST + 6),
    ]
    left = json.loads(events[2].body)
    assert (left["metadata"]["labels"], left["data"]) == ({"sel": "on"}, {"x": "1"})


async def test_what_never_matched_makes_no_events(asking: Asking):
    running = asking.watch(labelSelector="sel=on", fieldSelector="metadata.name!=x", timeoutSeconds=1)
    await asking.put("w", labels={"sel": "off"})
    await asking.put("x", labels={"sel": "on"})
    await asking.remove("w")
    await asking.remove("x")

    assert await running.until_end() == []


async def test_a_deletion_shows_the_last_state_at_its_own_revision(full: Asking):
    running = full.watch(resourceVersion=NOW, timeoutSeconds=1)
    await full.remove("a")

    [event] = await running.until_end()

    gone = json.loads(event.body)
    assert event.type == "DELETED"
    assert (gone["data"], gone["metadata"]["resourceVersion"]) == ({"x": "1"}, str(NOW + 1))


async def test_a_name_narrows_a_watch_to_that_object(full: Asking):
    running = full.watch(fieldSelector="metadata.name=a", timeoutSeconds=1)
    await full.put("a-longer")
    await full.put("a")

    assert said(await running.until_end()) == [("ADDED", "a", NOW + 2)]


async def test_the_deprecated_watch_of_one_object_is_a_name_selector(full: Asking):
    events = await full.watch(name="b", timeoutSeconds=1).until_end()

    assert said(events) == [("ADDED", "b", FIRST + 2)]
    with pytest.raises(Failure, match=r"fieldSelector metadata\.name doesn't match requested name"):
        full.watch(name="b", fieldSelector="metadata.name=a")


async def test_a_wildcard_watch_sees_clusters_that_come_later(asking: Asking):
    running = asking.watch(served=PLANETS, scope=Scope("*"), timeoutSeconds=1)
    for cluster in ("one", "two"):
        await asking.put("mars", served=PLANETS, scope=Scope(cluster))

    events = await running.until_end()

    clusters = [json.loads(event.body)["metadata"]["annotations"]["kcp.io/cluster"] for event in events]
    assert clusters == ["one", "two"]


async def test_names_work_on_wildcard_watches_of_the_cache_server(asking: Asking):
    running = asking.watch(
        served=PLANETS,
        scope=Scope("*", "*", is_cache=True),
        fieldSelector="metadata.name=mars",
        resourceVersion=FIRST,
        timeoutSeconds=1,
    )
    for name in ("venus", "mars", "mars2"):
        await asking.put(name, served=PLANETS, scope=Scope("one", "amber", is_cache=True))

    assert said(await running.until_end()) == [("ADDED", "mars", FIRST + 2)]


@pytest.mark.parametrize(
    ("seconds", "times"),
    [(1, []), (2, []), (6, [4.0]), (90, [60.0, 88.0]), (200, [60.0, 120.0, 180.0, 198.0]), (62, [60.0])],
)
async def test_bookmarks_come_every_minute_and_shortly_before_the_end(full: Asking, seconds: int, times: list[float]):
    running = full.watch(resourceVersion=NOW, timeoutSeconds=seconds, **MARKED).running
    found: list[float] = []

    async def read() -> None:
        async for events in running:
            found.extend(full.clock.monotonic() for event in events if event.type == "BOOKMARK")

    await full.clock.run(read())

    assert found == times
    assert full.clock.monotonic() == seconds


async def test_without_permission_there_are_no_bookmarks(full: Asking):
    assert await full.watch(resourceVersion=NOW, timeoutSeconds=200).until_end() == []


async def test_bookmarks_cover_what_other_kinds_wrote(full: Asking):
    running = full.watch(resourceVersion=NOW, timeoutSeconds=3, **MARKED)
    await full.put("mars", served=PLANETS)

    assert said(await running.until_end()) == [("BOOKMARK", "", NOW + 1)]


async def test_a_watch_ends_by_itself_within_an_hour(full: Asking):
    await full.watch(resourceVersion=NOW).until_end()

    assert 1800 <= full.clock.monotonic() <= 3600


async def test_a_watch_ends_when_its_kind_is_retired_after_what_had_happened(full: Asking):
    running, other = full.watch(resourceVersion=NOW), full.watch(served=PLANETS, resourceVersion=NOW, timeoutSeconds=9)

    async def retire() -> None:
        await full.clock.sleep(5)
        await full.put("z")
        full.world.retire(CONFIGMAPS)

    async with background(retire()):
        assert said(await running.until_end()) == [LIVE]
    assert full.clock.monotonic() == 5.0
    await other.until_end()
    assert full.clock.monotonic() == 14.0


async def test_a_watch_ends_when_the_store_closes(full: Asking):
    running = full.watch(resourceVersion=NOW)
    async with background(running.until_end()) as [reading]:
        await asyncio.sleep(0)
        await full.store.aclose()

        assert await reading == []


async def test_a_client_that_leaves_leaves_nothing_behind(full: Asking):
    running = full.watch(resourceVersion=NOW, **MARKED).running
    async with background(anext(running)):
        await full.clock.run_until_idle()

    await running.aclose()

    with pytest.raises(StopAsyncIteration):
        await anext(running)


async def test_a_watch_that_nobody_reads_holds_nothing(full: Asking):
    full.watch(**MARKED)


async def test_a_client_behind_history_is_cut_off_without_an_error_and_without_a_hole(asking: Asking):
    asking.store = MemoryStorage(revision=FIRST, window=Window(changes=50), clock=asking.clock)
    asking.world = World(asking.store, FixedCatalog(), clock=asking.clock)
    running = asking.watch(resourceVersion=FIRST)
    await asking.put("first")
    seen = said(await running.next())
    for _ in range(5000):
        await asking.put("busy")

    rest = said(await running.until_end())

    assert seen == [("ADDED", "first", FIRST + 1)]
    assert rest == []


async def test_a_big_state_comes_in_parts_and_misses_nothing_that_happens_meanwhile(asking: Asking):
    count = 3 * watching._STATE_CHUNK
    for n in range(count):
        await asking.put(f"n{n:05}")
    running = asking.watch(timeoutSeconds=1, **MARKED)

    first = await running.next()
    await asking.put("n00000")
    await asking.remove("n00001")
    rest = await running.until_end()

    assert len(first) == watching._AT_ONCE
    assert len(first) + len(rest) == count + 3
    assert said(rest[-3:]) == [
        ("BOOKMARK", "", FIRST + count),
        ("MODIFIED", "n00000", FIRST + count + 1),
        ("DELETED", "n00001", FIRST + count + 2),
    ]


async def test_a_long_replay_comes_in_parts(asking: Asking):
    for _ in range(3 * watching._AT_ONCE):
        await asking.put("busy")
    running = asking.watch(resourceVersion=FIRST, timeoutSeconds=1)

    first = await running.next()
    rest = await running.until_end()

    assert len(first) == watching._AT_ONCE
    assert [event.revision for event in first + rest] == list(range(FIRST + 1, FIRST + 1 + 3 * watching._AT_ONCE))


async def test_watchers_of_one_collection_share_their_events(full: Asking):
    one, two = full.watch(resourceVersion=NOW), full.watch(resourceVersion=NOW)
    await full.put("z")

    [first], [second] = await one.next(), await two.next()

    assert first is second
    await one.running.aclose()
    await two.running.aclose()
