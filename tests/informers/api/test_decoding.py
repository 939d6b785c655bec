import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.decoding import Reader
from informers.api.errors import DecodeError, Expired, api_error
from informers.api.objects import Key
from informers.api.resources import Resource
from tests.golden import pairs

TEAMS = Resource("example.com", "v1", "teams")


def encoded(body, **style):
    return json.dumps(body, **style).encode()


def team(name="red", **metadata):
    return {"apiVersion": "example.com/v1", "kind": "Team", "metadata": {"name": name, **metadata}, "spec": {"a": [1]}}


def event(kind, obj, **style):
    return encoded({"type": kind, "object": obj}, **style)


FULL = team(
    namespace="n1",
    uid="u1",
    resourceVersion="7",
    generation=3,
    deletionTimestamp="2026-01-01T00:00:00Z",
    labels={"a": "b"},
    annotations={"kcp.io/cluster": "c1", "kcp.io/shard": "amber", "other": "x"},
)


def test_an_object_is_its_bytes_with_the_metadata_beside_them():
    raw = encoded(FULL)

    obj = Reader(TEAMS).object(raw)

    assert obj.raw == raw
    assert obj.key == Key("amber", "c1", "n1", "red")
    assert (obj.uid, obj.rv, obj.generation, obj.deleted_at) == ("u1", "7", 3, "2026-01-01T00:00:00Z")
    assert obj.labels == {"a": "b"}
    assert obj.body == FULL


@pytest.mark.parametrize(
    ("cluster", "shard", "annotations", "key"),
    [
        ("", "", {}, Key(name="red")),
        ("c1", "amber", {}, Key("amber", "c1", "", "red")),
        ("c1", "amber", {"kcp.io/cluster": "c2", "kcp.io/shard": "beryl"}, Key("beryl", "c2", "", "red")),
        ("*", "*", {}, Key(name="red")),
        ("*", "*", {"kcp.io/cluster": "c2"}, Key("", "c2", "", "red")),
        ("c1", "", None, Key("", "c1", "", "red")),
    ],
)
def test_an_object_without_routing_annotations_is_where_it_was_asked_for(cluster, shard, annotations, key):
    obj = Reader(TEAMS, cluster=cluster, shard=shard).object(encoded(team(annotations=annotations)))

    assert obj.key == key


def test_equal_labels_are_one_mapping():
    """Ten thousand objects of one deployment have one set of labels in memory."""
    reader = Reader(TEAMS)

    first, second, other = (reader.object(encoded(team(n, labels={"a": v}))) for n, v in ("xx", "yx", "zy"))

    assert first.interned_labels is second.interned_labels
    assert other.labels == {"a": "y"}


@pytest.mark.parametrize("labels", [None, {}])
def test_no_labels_are_no_labels(labels):
    assert Reader(TEAMS).object(encoded(team(labels=labels))).labels == {}


def test_many_sets_of_labels_do_not_stay_for_ever():
    """Labels that carry a hash each would keep the whole history of a cluster."""
    reader = Reader(TEAMS)
    first = reader.object(encoded(team(labels={"a": "first"})))

    for number in range(40_000):
        reader.object(b'{"metadata":{"name":"x","labels":{"a":"%d"}}}' % number)

    assert reader.object(encoded(team(labels={"a": "first"}))).interned_labels is not first.interned_labels


BAD_OBJECTS = [
    b"",
    b"null",
    b"[]",
    b"{",
    encoded({}),
    encoded({"metadata": None}),
    encoded({"metadata": {}}),
    encoded({"metadata": {"name": ""}}),
    encoded({"metadata": {"name": 5}}),
    encoded(team(labels={"a": 5})),
    encoded(team(labels=["a"])),
    encoded(team(annotations={"kcp.io/cluster": 5})),
    encoded(team(generation="many")),
    encoded(team()) + b"x",
]


@pytest.mark.parametrize("raw", BAD_OBJECTS)
def test_what_is_no_object_is_explained(raw):
    with pytest.raises(DecodeError, match="expected a teams object, found"):
        Reader(TEAMS).object(raw)


def test_long_rubbish_is_not_repeated_whole():
    with pytest.raises(DecodeError) as raised:
        Reader(TEAMS).object(b"x" * 100_000)

    assert len(str(raised.value)) < 250


def test_a_page_has_its_objects_in_order_with_what_the_list_says():
    body = {
        "kind": "TeamList",
        "metadata": {"resourceVersion": "40", "continue": "token", "remainingItemCount": 5},
        "items": [team("b"), team("a")],
    }

    page = Reader(TEAMS).page(encoded(body))

    assert [obj.name for obj in page.objects] == ["b", "a"]
    assert (page.revision, page.continue_, page.remaining) == ("40", "token", 5)
    assert page.bytes == len(encoded(body))


@pytest.mark.parametrize("items", [{}, {"items": None}, {"items": []}])
def test_a_page_may_be_empty(items):
    page = Reader(TEAMS).page(encoded({"kind": "TeamList", "metadata": {"resourceVersion": "1"}, **items}))

    assert (page.objects, page.revision) == ([], "1")


def test_a_page_sets_aside_what_cannot_be_read():
    bad = team("bad", namespace="n1", generation="many", annotations={"kcp.io/cluster": "c1"})
    worse = {"metadata": 5}

    page = Reader(TEAMS, cluster="*", shard="amber").page(encoded({"items": [team("a"), bad, worse, team("b")]}))

    assert [obj.name for obj in page.objects] == ["a", "b"]
    assert [one.key for one in page.malformed] == [Key("amber", "c1", "n1", "bad"), Key()]
    assert "generation" in page.malformed[0].error
    assert json.loads(page.malformed[0].raw) == bad


def test_objects_of_a_page_do_not_keep_its_body_alive():
    """A view into the body would keep all of it for the sake of one object."""
    page = Reader(TEAMS).page(encoded({"items": [team("a")]}))

    assert type(page.objects[0].raw) is bytes
    assert page.objects[0].raw == encoded(team("a"))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"<html>", encoded({"items": {}}), encoded({"items": []}) + b"x"]
)
def test_what_is_no_list_is_explained(body):
    with pytest.raises(DecodeError, match="expected a list of teams, found"):
        Reader(TEAMS).page(body)


def test_a_table_is_no_list():
    with pytest.raises(DecodeError, match="found a Table"):
        Reader(TEAMS).page(encoded({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": []}))


STYLES = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}, {"separators": (",", ":"), "sort_keys": True}])


@given(st.sampled_from(["ADDED", "MODIFIED", "DELETED", "WHATEVER"]), STYLES)
def test_an_event_is_the_same_however_it_is_written(kind, style):
    line = event(kind, FULL, **style)

    found = Reader(TEAMS).event(line)

    assert (found.type, found.revision, found.object.key) == (kind, "7", Key("amber", "c1", "n1", "red"))
    assert found.object.body == FULL
    assert (found.status, found.malformed, found.initial_events_end) == (None, None, False)


@pytest.mark.parametrize("end", [b"", b" ", b"\r", b',"more":{"metadata":{"name":"not me"}}}'])
def test_what_follows_the_object_is_no_part_of_it(end):
    line = event("ADDED", FULL, separators=(",", ":"))
    line = line[:-1] + end if end.startswith(b",") else line + end

    found = Reader(TEAMS).event(line)

    assert found.object.body == FULL


COMPACT = {"separators": (",", ":")}
LINES = [
    *(event(kind, team(name), **COMPACT) for kind in ("ADDED", "MODIFIED", "DELETED") for name in ("red", "blue")),
    event("ADDED", FULL),
    event("MODIFIED", FULL, **COMPACT) + b"\r",
    event("MODIFIED", FULL, **COMPACT)[:-1] + b',"more":{"metadata":{"name":"not me"}}}',
    event("BOOKMARK", {"metadata": {"resourceVersion": "9"}}, **COMPACT),
    event("ERROR", {"code": 410, "reason": "Expired"}, **COMPACT),
    event("INVENTED", team(), **COMPACT),
    *(event(kind, {"metadata": {"name": "bad", "uid": 5}}, **COMPACT) for kind in ("ADDED", "MODIFIED", "DELETED")),
    event("ADDED", team(labels={"a": 1}), **COMPACT),
    event("ADDED", {"metadata": {}}, **COMPACT),
    event("ADDED", None, **COMPACT),
]
BROKEN = [b"{", b'{"type":"ADDED","object":', b'{"type":"ADDED","object":{"metadata":}}', b"rubbish"]


@given(st.lists(st.sampled_from([*LINES, b"", b" "])), st.sampled_from([None, *BROKEN]))
def test_lines_that_come_in_one_piece_tell_what_each_of_them_tells_alone(lines, broken):
    """In their order, whatever is wrong with some; up to the first that is no event."""
    reader, told = Reader(TEAMS), []
    alone = [reader.event(line) for line in lines if line.strip()]

    if broken is None:
        reader.events(b"".join(line + b"\n" for line in lines), told)
    else:
        with pytest.raises(DecodeError, match="expected a watch event"):
            reader.events(b"".join(line + b"\n" for line in [*lines, broken, *lines]), told)

    assert [*map(shown, told)] == [*map(shown, alone)]


def shown(found):
    obj = found.object and (found.object.key, found.object.raw, found.object.rv, found.object.labels)
    return found.type, obj, found.revision, found.status, found.malformed, found.initial_events_end


@pytest.mark.parametrize(
    ("annotations", "ends"),
    [
        ({}, False),
        (None, False),
        ({"k8s.io/initial-events-end": "true"}, True),
        ({"k8s.io/initial-events-end": "false"}, False),
    ],
)
def test_a_bookmark_has_a_revision_and_nothing_else(annotations, ends):
    """It has no name; and only the value "true" ends the initial events."""
    obj = {"kind": "Team", "apiVersion": "v1", "metadata": {"resourceVersion": "9", "annotations": annotations}}

    found = Reader(TEAMS).event(event("BOOKMARK", obj))

    assert (found.type, found.revision, found.initial_events_end, found.object) == ("BOOKMARK", "9", ends, None)


def test_an_error_event_is_a_status():
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version: 1 (9)"}

    found = Reader(TEAMS).event(event("ERROR", status))

    assert (found.object, found.revision) == (None, "")
    assert type(api_error(found.status)) is Expired


@pytest.mark.parametrize("kind", ["ADDED", "DELETED", "BOOKMARK"])
def test_an_event_whose_object_cannot_be_read_is_still_an_event(kind):
    """One bad object must not end the watch of all the others."""
    bad = team("bad", namespace="n1", resourceVersion=5)

    found = Reader(TEAMS, cluster="c1").event(event(kind, bad, separators=(",", ":")))

    assert (found.type, found.object) == (kind, None)
    assert found.malformed.key == Key("", "c1", "n1", "bad")
    assert json.loads(found.malformed.raw) == bad


@pytest.mark.parametrize(
    "line",
    [
        b"rubbish",
        b"{}",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":',
        b'{"type":"ADDED","object":{"metadata":{"name":"x"}}',
        encoded({"kind": "Status", "code": 410}),
        event("ERROR", []),
    ],
)
def test_a_line_that_is_no_event_is_explained(line):
    with pytest.raises(DecodeError, match=r"expected a (watch event of teams|Status in an ERROR event), found"):
        Reader(TEAMS).event(line)


@pytest.mark.parametrize("recording", ["c-cache-server.jsonl", "b-slice-lifecycle.jsonl"])
def test_recorded_lists_are_read_whole(recording):
    seen = 0
    for pair in pairs("kcp", recording):
        body = (pair.get("resp") or {}).get("body")
        if isinstance(body, dict) and str(body.get("kind")).endswith("List") and body.get("items"):
            page = Reader(TEAMS, cluster="*").page(encoded(body))
            assert page.malformed == []
            assert [obj.body for obj in page.objects] == body["items"]
            assert [obj.key.name for obj in page.objects] == [item["metadata"]["name"] for item in body["items"]]
            seen += 1
    assert seen
