"""Lists as JSON in pieces."""

import asyncio
from typing import Any

import msgspec
import pytest

from informers.tasks import background
from kcpctl.apiserver.reading import list_, stream_list
from kcpctl.apiserver.served import Served
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, WIDGETS
from tests.kcpctl.apiserver.reading.conftest import FIRST, Asking


async def pieces(asking: Asking, served: Served, **asked: Any) -> list[bytes]:
    result = await list_(asking.world, asking.call("list", served=served, **asked))
    return [piece async for piece in stream_list(served, result)]


@pytest.mark.parametrize("count", [0, 1, 2, 127, 128, 129, 300])
async def test_the_pieces_are_one_document_with_every_item(asking: Asking, count: int):
    for n in range(count):
        await asking.put(f"n{n:03}", data={"x": str(n)})

    document = msgspec.json.decode(b"".join(await pieces(asking, CONFIGMAPS)))

    assert {field: document[field] for field in ("kind", "apiVersion", "metadata")} == {
        "kind": "ConfigMapList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": str(FIRST + count)},
    }
    assert [item["data"]["x"] for item in document["items"]] == [str(n) for n in range(count)]


async def test_a_page_says_how_to_go_on_and_how_much_is_left(asking: Asking):
    for name in "abc":
        await asking.put(name)

    metadata = msgspec.json.decode(b"".join(await pieces(asking, CONFIGMAPS, limit=1)))["metadata"]

    assert metadata["remainingItemCount"] == 2
    assert metadata["continue"]


async def test_custom_lists_print_an_empty_continue(asking: Asking):
    document = msgspec.json.decode(b"".join(await pieces(asking, WIDGETS)))

    assert document == {
        "kind": "WidgetList",
        "apiVersion": "golden.example.com/v1",
        "metadata": {"resourceVersion": str(FIRST), "continue": ""},
        "items": [],
    }


async def test_big_objects_make_pieces_of_a_bounded_size(asking: Asking):
    for n in range(40):
        await asking.put(f"n{n}", data={"x": "y" * 30_000})

    found = await pieces(asking, CONFIGMAPS)

    assert len(found) >= 4
    assert max(map(len, found)) < 256 * 1024 + 31_000


async def test_others_run_between_two_pieces(asking: Asking):
    for n in range(300):
        await asking.put(f"n{n}")
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with background(count()):
        found = await pieces(asking, CONFIGMAPS)

    assert turns >= len(found) - 1 > 1


async def test_items_are_made_one_by_one_and_sliced_without_being_made(asking: Asking):
    for name in "abc":
        await asking.put(name)

    items = (await list_(asking.world, asking.call("list"))).items

    assert len(items) == 3
    assert list(items[1:]) == [items[1], items[2]]
    assert b'"name":"c"' in items[-1]
