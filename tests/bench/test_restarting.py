"""What counts as the renewal of a lease, and when a shard has nothing left to do."""

from typing import Any

import pytest

from controllers.copies import HOLDER
from tests.bench.restarting import is_idle, renewals, without_lease


def copy(revision: int, *, holder: str = "", url: str = "https://a.example.com", **notes: str) -> dict[str, Any]:
    annotations = ({HOLDER: holder} if holder else {}) | notes
    metadata = {"name": "a", "resourceVersion": str(revision), "annotations": annotations}
    return {"metadata": metadata, "spec": {"baseURL": url}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([copy(2, holder="x"), copy(3, holder="y")], 2),
        ([copy(2)], 1),
        ([copy(2, url="https://b.example.com")], 0),
        ([copy(2, holder="x", note="new")], 0),
        ([copy(2, url="https://b.example.com"), copy(3, holder="x", url="https://b.example.com")], 1),
    ],
)
def test_a_write_that_changes_nothing_but_the_lease_is_a_renewal(changes: list[dict[str, Any]], expected: int) -> None:
    assert renewals({"a": without_lease(copy(1, holder="x"))}, changes) == expected


def test_the_first_copy_of_a_shard_is_no_renewal() -> None:
    assert renewals({}, [copy(2, holder="x")]) == 0


@pytest.mark.parametrize(
    ("informer", "controller", "with_cache", "expected"),
    [
        ({}, {}, True, True),
        ({"live": False}, {}, False, True),
        ({"live": False}, {}, True, False),
        ({"server": "local", "live": False}, {}, False, False),
        ({}, {"started": False}, True, False),
        ({}, {"ready": 1}, True, False),
        ({}, {"active": 1}, True, False),
    ],
)
def test_a_shard_is_idle_once_all_that_it_can_follow_is_followed_and_visited(
    informer: dict[str, Any], controller: dict[str, Any], with_cache: bool, expected: bool
) -> None:
    status = {
        "informers": [{"server": "cache", "live": True} | informer],
        "controllers": [{"started": True, "ready": 0, "active": 0} | controller],
    }

    assert is_idle(status, with_cache=with_cache) is expected
