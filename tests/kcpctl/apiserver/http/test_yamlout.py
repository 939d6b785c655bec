"""YAML in the style of kube-apiserver."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.http import yamlout
from tests.golden import pairs

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert yaml.safe_load(yamlout.dump(value)) == value


@pytest.mark.parametrize("text", ["1", "1e3", "yes", "y", "null", "~", "0x1f", "2020-01-01", "1_000", "", "true"])
def test_texts_that_look_like_something_else_are_double_quoted(text: str) -> None:
    assert yamlout.dump([text]) == f'- "{text}"\n'.encode()


def test_no_text_ends_the_document() -> None:
    assert yamlout.dump({"a": "x\n\n"}) == b"a: |+\n  x\n\n"
    assert yamlout.dump({"a": "x\n...\n"}) == b"a: |\n  x\n  ...\n"


def test_equal_values_are_written_in_full() -> None:
    shared = {"a": [1]}

    assert yamlout.dump([shared, shared]) == b"- a:\n  - 1\n- a:\n  - 1\n"


def test_an_object_looks_as_a_real_server_writes_it() -> None:
    found = {pair["id"]: pair["resp"].get("body") for pair in pairs("golden.jsonl")}

    assert yamlout.dump(found["cm get"]).decode() == found["cm get yaml"]
