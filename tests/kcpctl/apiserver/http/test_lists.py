"""Lists written piece by piece: the same bytes as in one go, and nobody waits for them."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.aside import SMALL, Aside
from kcpctl.apiserver.http import encoding
from kcpctl.apiserver.http.lists import Parts, written
from kcpctl.apiserver.http.negotiation import JSON, YAML, Form
from tests.kcpctl.apiserver.turns import turns

FORMS = [Form(), Form(pretty=True), Form(YAML)]
HEADS = [
    b'{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[',
    b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[{"name":"A"}],"rows":[',
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), max_size=4)


@given(OBJECTS, st.sampled_from(HEADS), st.sampled_from(FORMS), st.booleans())
async def test_pieces_make_up_the_whole(items: list[Any], head: bytes, form: Form, null: bool) -> None:
    whole = head + b",".join(map(msgspec.json.encode, items)) + b"]}"
    if null and not items:
        whole = head[:-1] + b"null}"
    expected = encoding.written(whole, form)
    parts = Parts(head, [msgspec.json.encode(item) for item in items], null_when_empty=null)

    found = b"".join([piece async for piece in written(parts, form, Aside())])

    assert found == (expected if form.media == YAML or form.pretty else expected.removesuffix(b"\n"))


@pytest.mark.parametrize("form", [Form(YAML), Form(JSON, pretty=True)])
async def test_a_big_object_is_written_on_a_thread(form: Form) -> None:
    big = json.dumps({f"k{at}": "v" for at in range(3 * SMALL)}).encode()
    stream = written(Parts(HEADS[0], [big]), form, Aside())

    async with turns() as counted:
        first = await anext(stream)  # nothing but a thread is waited for on the way to it
        made = counted.turns

    assert made > 0
    assert len(first + b"".join([piece async for piece in stream])) > len(big) / 2
