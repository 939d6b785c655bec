"""Objects as rows for people."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kcpctl.apiserver.aside import Aside
from kcpctl.apiserver.call import Query, Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http import lists, watches
from kcpctl.apiserver.http.negotiation import Form
from kcpctl.apiserver.http.tables import Table, table
from kcpctl.apiserver.served import Column
from kcpctl.apiserver.world import Event, event
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, WIDGETS, kind

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
CREATED = "2030-01-01T07:00:00Z"
ROOT = Scope("root")
EVERYWHERE = Scope("*")


def obj(name: str, *, cluster: str = "root", **other: Any) -> bytes:
    metadata = {"name": name, "creationTimestamp": CREATED, "annotations": {"kcp.io/cluster": cluster}}
    return msgspec.json.encode({"metadata": metadata, **other})


def shown(made: Table, *objects: bytes) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.json.decode(made.whole(objects, b'{"resourceVersion":"7"}', NOW))
    return whole


def test_a_kind_without_columns_has_name_and_age() -> None:
    found = shown(table(CONFIGMAPS, ROOT, Query(), "v1"), obj("a"))

    assert [(c["name"], c["type"], c["format"]) for c in found["columnDefinitions"]] == [
        ("Name", "string", "name"),
        ("Age", "string", ""),
    ]
    assert found["rows"][0]["cells"] == ["a", "5h"]
    assert found["metadata"] == {"resourceVersion": "7"}


def test_columns_follow_the_name_and_dates_become_ages() -> None:
    found = shown(table(WIDGETS, ROOT, Query(), "v1"), obj("w", spec={"size": 3, "color": "red"}))

    assert [(c["name"], c["priority"]) for c in found["columnDefinitions"]] == [
        ("Name", 0),
        ("Size", 0),
        ("Colour", 1),
        ("Age", 0),
    ]
    assert found["rows"][0]["cells"] == ["w", 3, "red", "5h"]


def test_a_column_may_keep_its_date_and_bring_its_own_name() -> None:
    columns = (
        Column("Created At", "date", lambda o: o["metadata"]["creationTimestamp"], age=False),
        Column("Name", "string", lambda o: o["metadata"]["name"], format="name"),
    )

    found = shown(table(kind("", "v1", "things", "Thing", columns=columns), ROOT, Query(), "v1"), obj("a"))

    assert found["rows"][0]["cells"] == [CREATED, "a"]


def test_a_scale_has_columns_of_its_own() -> None:
    made = table(WIDGETS, ROOT, Query(), "v1", subresource="scale")

    found = shown(made, obj("w", spec={"replicas": 3}, status={"replicas": 1}))

    assert [c["name"] for c in found["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert found["rows"][0]["cells"] == ["w", 3, 1, "5h"]


def test_across_clusters_a_column_says_where() -> None:
    found = shown(table(CONFIGMAPS, EVERYWHERE, Query(), "v1"), obj("a", cluster="one"), obj("a", cluster="two"))

    assert [row["cells"][:2] for row in found["rows"]] == [["one", "a"], ["two", "a"]]
    assert [c["name"] for c in found["columnDefinitions"]] == ["Cluster", "Name", "Age"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1beta1"}),
        ("includeObject=Object", {"kind": "ConfigMap", "apiVersion": "v1", "data": {"x": "1"}}),
        ("includeObject=None", None),
    ],
)
def test_a_row_carries_as_much_of_its_object_as_was_asked_for(query: str, expected: dict[str, Any] | None) -> None:
    body = obj("a", data={"x": "1"})
    if expected is not None:
        expected = expected | {"metadata": msgspec.json.decode(body)["metadata"]}

    found = shown(table(CONFIGMAPS, ROOT, Query(query), "v1beta1"), body)

    assert found["apiVersion"] == "meta.k8s.io/v1beta1"
    assert found["rows"][0]["object"] == expected


def test_an_unknown_include_object_is_refused() -> None:
    with pytest.raises(Failure, match="must be 'Metadata', 'Object', 'None', or empty"):
        table(CONFIGMAPS, ROOT, Query("includeObject=Bad"), "v1")


async def test_a_big_table_comes_in_slices_and_is_the_same_document() -> None:
    made = table(CONFIGMAPS, ROOT, Query("includeObject=Object"), "v1")
    objects = [obj(f"n{i}", data={"x": "y" * 1000}) for i in range(1000)]
    parts = lists.as_table(made, objects, b'{"resourceVersion":"7"}', NOW)

    pieces = [piece async for piece in lists.written(parts, Form(), Aside())]

    assert len(pieces) > 3
    assert msgspec.json.decode(b"".join(pieces)) == shown(made, *objects)


def read(lines: bytes) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in lines.splitlines()]


def test_only_the_first_event_of_a_watch_says_what_the_columns_are() -> None:
    encode = watches.as_tables(table(CONFIGMAPS, ROOT, Query(), "v1"), lambda: NOW)
    error = event("ERROR", b'{"kind":"Status","code":410}', 0)

    lines = read(encode([error, event("ADDED", obj("a"), 4)])) + read(encode([event("MODIFIED", obj("a"), 5)]))

    assert lines[0]["object"] == {"kind": "Status", "code": 410}
    assert [len(line["object"]["columnDefinitions"] or ()) for line in lines[1:]] == [2, 0]
    assert [line["object"]["metadata"]["resourceVersion"] for line in lines[1:]] == ["4", "5"]
    assert lines[2]["object"]["rows"][0]["cells"] == ["a", "5h"]


def test_a_bookmark_in_a_table_watch_is_a_row_of_empty_cells() -> None:
    metadata = {"resourceVersion": "9", "annotations": {"end": "true"}}
    mark = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
    encode = watches.as_tables(table(CONFIGMAPS, ROOT, Query(), "v1"), lambda: NOW)

    (line,) = read(encode([event("BOOKMARK", msgspec.json.encode(mark), 9)]))

    assert line["type"] == "BOOKMARK"
    assert line["object"]["metadata"]["resourceVersion"] == "9"
    assert line["object"]["rows"][0]["cells"] == [None, None]
    assert line["object"]["rows"][0]["object"]["metadata"] == metadata


async def test_closing_a_watch_that_nobody_has_read_closes_its_events() -> None:
    class Events:
        closed = False

        def __aiter__(self) -> "Events":
            return self

        async def __anext__(self) -> list[Event]:
            raise StopAsyncIteration

        async def aclose(self) -> None:
            self.closed = True

    events = Events()

    await watches.Watch(events, watches.plain).aclose()

    assert events.closed
