"""Published URLs are composed to the byte as kcp composes them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.urls import UnusableUrl, virtual_workspace_url

VECTORS = json.loads(Path(__file__).with_name("url_vectors.json").read_text(encoding="utf-8"))
"""[shard URL, cluster, export, what a Go program with net/url and path.Join prints; null where it refuses]."""


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v[0])
def test_a_url_is_what_go_prints(vector: tuple[str, str, str, str | None]) -> None:
    shard_url, cluster, export, expected = vector
    if expected is None:
        with pytest.raises(UnusableUrl):
            virtual_workspace_url(shard_url, cluster, export)
    else:
        assert virtual_workspace_url(shard_url, cluster, export) == expected


def test_an_empty_url_is_unusable() -> None:
    with pytest.raises(UnusableUrl, match="empty"):
        virtual_workspace_url("", "root", "e")


@given(st.text(max_size=30))
def test_any_text_is_composed_or_refused(text: str) -> None:
    try:
        url = virtual_workspace_url(text, "c1", "e")
    except UnusableUrl:
        return
    assert url
