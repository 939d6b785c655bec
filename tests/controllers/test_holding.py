"""What a process may do about a segment that it finds, from what the copy of the Shard says of its holder."""

from datetime import UTC, datetime

import msgspec
import pytest

from controllers.copies import HOLDER, ORIGINAL_UID
from controllers.entries import Moment
from controllers.holding import Claim, Finder, Holder, claim, holder_of
from controllers.kinds import SHARDS
from controllers.rivals import Watched
from informers.api.histories import UNTOLD, Lineage
from tests.controllers.world import made

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OURS = Lineage("store-a", (("first", 1), ("second", 100)))
FINDER = Finder("process-1", OURS, "150", "uid-a")


def found(holder: Holder | str | None, uid: str = "uid-b") -> Claim:
    notes = {ORIGINAL_UID: uid}
    if holder is not None:
        notes[HOLDER] = holder if isinstance(holder, str) else holder.text
    return claim(made(SHARDS, "amber", "root", shard="amber", annotations=notes), FINDER)


def held(store: str, term: str, revision: str, process: str = "process-0", *, released: bool = False) -> Holder:
    return Holder(Moment(store, term, revision), process, NOW, released=released)


CASES = {
    "its own": (held("elsewhere", "x", "9", "process-1"), Claim.OWN),
    "the process before it": (held("store-a", "first", "99"), Claim.NEXT),
    "one in the same term": (held("store-a", "second", "150"), Claim.NEXT),
    "one that went on where this copy ends": (held("store-a", "first", "101"), Claim.HELD),
    "one in a term that this copy never had": (held("store-a", "third", "150"), Claim.HELD),
    "one over another store": (held("store-b", "first", "50"), Claim.HELD),
    "one over another store that has stopped": (held("store-b", "first", "50", released=True), Claim.HELD),
    "one over a store that says nothing": (held("", "", "50"), Claim.HELD),
}


@pytest.mark.parametrize(("holder", "expected"), CASES.values(), ids=CASES)
def test_what_may_be_done_depends_on_whether_the_store_goes_on_from_the_holders(
    holder: Holder, expected: Claim
) -> None:
    assert found(holder) is expected


@pytest.mark.parametrize("note", [None, "", "nonsense", "[]", "{}"])
def test_without_a_holder_that_can_be_read_the_uid_of_the_shard_tells_stores_apart(note: str | None) -> None:
    assert found(note, uid="uid-a") is Claim.NEXT
    assert found(note, uid="uid-b") is Claim.HELD


def test_where_no_server_names_its_store_the_uid_of_the_shard_tells_them_apart() -> None:
    finder = Finder("process-1", UNTOLD, "150", "uid-a")
    for uid, expected in (("uid-a", Claim.NEXT), ("uid-b", Claim.HELD)):
        notes = {ORIGINAL_UID: uid, HOLDER: held("", "", "50").text}

        assert claim(made(SHARDS, "amber", "root", annotations=notes), finder) is expected


def test_what_is_written_can_be_read_again() -> None:
    holder = msgspec.structs.replace(held("store-a", "first", "1"), inherited=NOW)

    assert holder_of(made(SHARDS, "amber", annotations={HOLDER: holder.text})) == holder


def test_only_uninterrupted_sight_counts_as_silence() -> None:
    watched = Watched(held("store-b", "x", "1"), 0.0)
    assert watched.silence(14.0) == 14.0

    watched.lose_sight()

    assert watched.silence(100.0) == 0.0
    assert watched.silence(110.0) == 10.0


def test_another_word_of_a_holder_is_a_sign_of_life_and_the_loss_of_its_word_is_none() -> None:
    first = held("store-b", "x", "1")
    watched = Watched(first, 0.0)

    assert not watched.shows_life(first)
    assert not watched.shows_life(None)
    assert watched.shows_life(msgspec.structs.replace(first, renewed=datetime(2026, 1, 2, tzinfo=UTC)))
