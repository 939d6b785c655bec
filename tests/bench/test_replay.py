"""The replay server gives what it says: objects of one size, lists and watches that agree, and honest refusals."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.collection import Collection, chunked, gather
from tests.bench.objects import FIRST_REVISION, SIZE, pieces, render
from tests.bench.replay import SLICES, Habits, Replay

COUNT = 120
Obj = dict[str, Any]


class Client:
    """Asks the replay server as an informer would."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session = session
        self._address = address

    async def list(self, **query: str) -> tuple[int, Obj]:
        async with self._session.get(self._address + SLICES, params=query) as answer:
            return answer.status, await answer.json()

    @asynccontextmanager
    async def watch(self, **query: str) -> AsyncIterator[AsyncIterator[Obj]]:
        async with self._session.get(self._address + SLICES, params={"watch": "true", **query}) as answer:
            yield (json.loads(line) async for line in answer.content)

    async def start(self, events: int) -> None:
        async with self._session.post(self._address + "/start", params={"events": str(events)}) as answer:
            assert answer.status == 200


@asynccontextmanager
async def serving(habits: Habits = Habits()) -> AsyncIterator[Client]:  # noqa: B008 — an immutable value
    collection = Collection("Slice", "bench.example.com/v1", COUNT, "shared")
    server = await asyncio.start_server(Replay(collection, SLICES, habits).serve, "127.0.0.1", 0)
    async with server, aiohttp.ClientSession() as session:
        host, port = server.sockets[0].getsockname()
        yield Client(session, f"http://{host}:{port}")


def by_name(objects: list[Obj]) -> dict[str, Obj]:
    return {obj["metadata"]["name"]: obj for obj in objects}


@pytest.mark.parametrize("labels", ["shared", "unique"])
def test_every_object_has_1500_bytes_and_stays_within_two_percent(labels: Any) -> None:
    for index in range(500):
        parts = pieces(index, labels)

        assert len(render(parts, 1, FIRST_REVISION)) == SIZE
        assert abs(len(render(parts, 9_999, FIRST_REVISION)) - SIZE) < 0.02 * SIZE


def test_label_sets_are_shared_or_unique_as_asked() -> None:
    def label_sets(labels: Any) -> set[str]:
        objects = (json.loads(render(pieces(index, labels), 1, FIRST_REVISION)) for index in range(1000))
        return {json.dumps(obj["metadata"]["labels"]) for obj in objects}

    assert len(label_sets("shared")) == 200
    assert len(label_sets("unique")) == 1000


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(1, 400), st.integers(1, 90))
def test_chunks_hold_the_same_bytes_however_they_are_cut(parts: list[bytes], block: int, size: int) -> None:
    framed = b"".join(chunked(gather(parts, block), size))

    found = b""
    while framed:
        length, _, rest = framed.partition(b"\r\n")
        found, end, framed = found + rest[: int(length, 16)], rest[int(length, 16) :][:2], rest[int(length, 16) + 2 :]
        assert end == b"\r\n"
    assert found == b"".join(parts)


@pytest.mark.parametrize("limit", [1, 7, COUNT, COUNT + 1])
async def test_pages_of_any_size_are_the_whole_list(limit: int) -> None:
    async with serving() as client:
        _, whole = await client.list()
        items, more = [], ""
        while True:
            _, page = await client.list(limit=str(limit), **({"continue": more} if more else {}))
            items += page["items"]
            more = page["metadata"].get("continue", "")
            assert page["metadata"].get("remainingItemCount", 0) == COUNT - len(items)
            if not more:
                break

    assert items == whole["items"]
    assert len(by_name(items)) == COUNT


@pytest.mark.parametrize(("habits", "expected"), [(Habits(), COUNT), (Habits(whole_at_zero=False), 10)])
async def test_a_limit_at_revision_zero_counts_only_where_lists_do_not_come_from_memory(
    habits: Habits, expected: int
) -> None:
    async with serving(habits) as client:
        _, page = await client.list(limit="10", resourceVersion="0")

    assert len(page["items"]) == expected


async def test_what_a_watch_tells_is_what_the_next_list_shows() -> None:
    events = 2 * COUNT + 5
    async with serving() as client:
        _, before = await client.list()
        revision = before["metadata"]["resourceVersion"]
        seen = by_name(before["items"])
        async with client.watch(resourceVersion=revision, allowWatchBookmarks="true") as lines:
            await client.start(events)
            for _ in range(events):
                event = await anext(lines)
                obj = event["object"]
                old = seen[obj["metadata"]["name"]]
                assert event["type"] == "MODIFIED"
                assert int(obj["metadata"]["resourceVersion"]) == int(revision) + 1
                assert obj["metadata"]["generation"] == old["metadata"]["generation"] + 1
                assert obj["spec"] != old["spec"]
                revision = obj["metadata"]["resourceVersion"]
                seen[obj["metadata"]["name"]] = obj
            last = await anext(lines)
        _, after = await client.list()

    assert (last["type"], last["object"]["metadata"]["resourceVersion"]) == ("BOOKMARK", revision)
    assert after["metadata"]["resourceVersion"] == revision
    assert by_name(after["items"]) == seen


async def test_a_streamed_list_ends_with_its_bookmark_and_goes_on_as_a_watch() -> None:
    async with serving() as client:
        _, listed = await client.list()
        query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
        async with client.watch(**query) as lines:
            added = [await anext(lines) for _ in range(COUNT)]
            end = await anext(lines)
            await client.start(1)
            modified = await anext(lines)

    assert [event["object"] for event in added] == listed["items"]
    assert {event["type"] for event in added} == {"ADDED"}
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert end["object"]["metadata"]["resourceVersion"] == listed["metadata"]["resourceVersion"]
    assert modified["type"] == "MODIFIED"


async def test_a_server_without_streamed_lists_says_so_before_it_answers() -> None:
    async with serving(Habits(watchlist=False)) as client:
        code, status = await client.list(watch="true", sendInitialEvents="true")

    assert (code, status["reason"]) == (422, "Invalid")


async def test_continue_tokens_and_watches_of_an_older_revision_are_expired() -> None:
    async with serving() as client:
        _, page = await client.list(limit="10")
        async with client.watch():
            await client.start(1)
            listed, status = await client.list(**{"limit": "10", "continue": page["metadata"]["continue"]})
            watched, _ = await client.list(watch="true", resourceVersion=page["metadata"]["resourceVersion"])

    assert (listed, watched, status["reason"]) == (410, 410, "Expired")
