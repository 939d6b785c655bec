import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.decoding import Reader
from informers.api.errors import DecodeError
from informers.api.pages import PageReader
from informers.api.resources import Resource
from tests.strategies import cut

TEAMS = Resource("example.com", "v1", "teams")

# What could pass for the place between two items, and is not.
TREACHEROUS = st.sampled_from(
    [
        '},{"apiVersion"',
        '}]},{"apiVersion":"x"',
        [{"apiVersion": "a"}, {"apiVersion": "b"}, {"metadata": {}}],
        {"items": [{"apiVersion": "a"}, {"apiVersion": "b"}]},
        '"items":[{"',
        "\\",
        '\\"},{',
        "ünïcode 💫",
    ]
)


def item(name, spec, *, generation=1):
    return {"apiVersion": "example.com/v1", "metadata": {"name": name, "generation": generation}, "spec": spec}


ITEMS = st.lists(
    st.builds(
        item,
        st.sampled_from(["a", "b", "c"]),
        st.lists(TREACHEROUS, max_size=3),
        generation=st.sampled_from([1, 2, "no number"]),
    ),
    max_size=6,
)
META = st.builds(
    lambda rv, continue_: {"resourceVersion": rv, "continue": continue_, "remainingItemCount": 3},
    st.sampled_from(["1", "20"]),
    st.sampled_from(["", "token"]),
)


@st.composite
def bodies(draw):
    """Return a list as some server might send it: members in any order, compact or not, items or null."""
    members = {"kind": "TeamList", "metadata": draw(META), "items": draw(st.one_of(ITEMS, st.none()))}
    names = draw(st.permutations(list(members)))
    style = draw(st.sampled_from([{"separators": (",", ":")}, {"indent": 2}, {}]))
    return json.dumps({name: members[name] for name in names}, **style).encode()


@given(st.data(), bodies())
def test_any_chunking_gives_the_page_of_the_whole_body(data, body):
    expected = Reader(TEAMS).page(body)
    pages = PageReader(Reader(TEAMS))
    for chunk in data.draw(cut(body)):
        pages.feed(chunk)

    found = pages.finish()

    assert [obj.raw for obj in found.objects] == [obj.raw for obj in expected.objects]
    assert [one.raw for one in found.malformed] == [one.raw for one in expected.malformed]
    assert msgspec.structs.replace(found, objects=[], malformed=[]) == msgspec.structs.replace(
        expected, objects=[], malformed=[]
    )


@given(st.data(), bodies())
def test_a_body_that_breaks_off_is_no_page(data, body):
    pages = PageReader(Reader(TEAMS))
    for chunk in data.draw(cut(body[: data.draw(st.integers(0, len(body) - 1))])):
        pages.feed(chunk)

    with pytest.raises(DecodeError, match="expected a list of teams"):
        pages.finish()


@pytest.mark.parametrize("shape", ["go", "sorted"])
def test_items_are_read_as_they_arrive(shape):
    """What was read is let go: a list of any size needs room for its objects and one item more."""
    head = {"kind": "TeamList", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": "5"}}
    order = {"go": [*head, "items"], "sorted": ["apiVersion", "items", "kind", "metadata"]}[shape]
    whole = {**head, "items": [item(f"n{i}", ["x" * 100]) for i in range(1000)]}
    body = json.dumps({name: whole[name] for name in order}, separators=(",", ":")).encode()
    pages = PageReader(Reader(TEAMS))

    for at in range(0, len(body), 1000):
        pages.feed(body[at : at + 1000])
        assert pages.held < 2000

    assert len(pages.finish().objects) == 1000


def test_a_list_without_recognisable_cuts_is_not_looked_at_for_every_chunk():
    """Ten megabytes in chunks of one kilobyte: joining them anew each time would copy 50 gigabytes."""
    body = json.dumps({"kind": "TeamList", "items": [item(f"n{i}", ["x" * 1000]) for i in range(9000)]}, indent=1)
    pages = PageReader(Reader(TEAMS))

    for at in range(0, len(body), 1000):
        pages.feed(body[at : at + 1000].encode())

    assert len(pages.finish().objects) == 9000
