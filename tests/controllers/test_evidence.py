"""What each piece of news says of an object, row by row, in both sources."""

from datetime import UTC, datetime

import msgspec
import pytest

from controllers.entries import (
    EXPORT,
    SHARD,
    Entry,
    Kind,
    Malformed,
    Moment,
    Origin,
    Place,
    Seen,
    SeenExport,
    Source,
    State,
)
from controllers.evidence import Missing, News, There, displaced, judged, parted
from controllers.publishing import SeenShard
from informers.api.histories import Lineage
from informers.api.objects import Key
from informers.cache.notices import Evidence

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 1, 1, 13, tzinfo=UTC)
SEEN_AT = Moment("store", "first", "50")
SAME, FORKED, OTHER = (
    Lineage("store", (("first", 0), ("second", 100))),
    Lineage("store", (("first", 0), ("third", 49))),
    Lineage("other", (("first", 0),)),
)
UNTOLD = Lineage()
WHAT: dict[Kind, Seen] = {SHARD: SeenShard("beryl", "https://beryl"), EXPORT: SeenExport("c1", "root:one", "beryl")}
KINDS: tuple[Kind, ...] = (SHARD, EXPORT)


def place(source: Source, kind: Kind = SHARD, name: str = "beryl") -> Place:
    return Place(kind, source, Key("" if source == "local" else "beryl", "root", "", name))


def entry(
    source: Source, state: State = State.PRESENT, *, kind: Kind = SHARD, moment: Moment = SEEN_AT, name: str = "beryl"
) -> Entry:
    found = Entry(place(source, kind, name), "uid", WHAT[kind], moment)
    return found if state is State.PRESENT else Entry(found.place, "uid", WHAT[kind], moment, state, NOON, "because")


def missing(source: Source, evidence: Evidence, lineage: Lineage = UNTOLD, revision: str = "120") -> Missing:
    return Missing(place(source), evidence, lineage, revision)


def state_after(before: Entry, news: News) -> State | None:
    after = judged(before, news, LATER, home="amber")
    return after.state if after else None


@pytest.mark.parametrize("source", ["local", "cache"])
@pytest.mark.parametrize("state", State)
def test_what_is_there_is_present_whatever_was_thought_of_it(source: Source, state: State) -> None:
    moved = SeenShard("beryl", "https://moved")

    after = judged(entry(source, state), There(place(source), "uid", moved, SEEN_AT), LATER, home="amber")

    assert after == Entry(place(source), "uid", moved, SEEN_AT)


def test_what_has_not_changed_is_the_very_same_entry_whatever_its_revision() -> None:
    before = entry("cache")

    news = There(before.place, "uid", WHAT[SHARD], Moment("store", "second", "110"), lineage=SAME)

    assert judged(before, news, LATER, home="amber") is before


def test_what_is_there_in_another_history_is_known_to_be_there_in_that() -> None:
    moment = Moment("other", "first", "7")

    after = judged(
        entry("cache"), There(place("cache"), "uid", WHAT[SHARD], moment, lineage=OTHER), LATER, home="amber"
    )

    assert after == Entry(place("cache"), "uid", WHAT[SHARD], moment)


NEWER, OLDER = Origin("original", "90"), Origin("original", "80")
FORMER = SeenShard("beryl", "https://former")


def shown(origin: Origin, lineage: Lineage, what: SeenShard = FORMER) -> There:
    return There(place("cache"), "uid", what, Moment(lineage.store, lineage.term, "45"), origin, lineage)


def test_an_older_copy_of_the_cache_does_not_take_an_object_back_to_what_it_was() -> None:
    before = Entry(place("cache"), "uid", WHAT[SHARD], SEEN_AT, origin=NEWER)

    restored = judged(before, shown(OLDER, FORKED), LATER, home="amber")

    assert restored is not None
    assert (restored.what, restored.state) == (WHAT[SHARD], State.PRESENT)
    again = judged(restored, shown(OLDER, FORKED), LATER, home="amber")
    assert again is not None
    assert again.what == WHAT[SHARD], "nor when it is told again"
    repaired = judged(restored, shown(Origin("original", "91"), FORKED), LATER, home="amber")
    assert repaired is not None
    assert repaired.what == FORMER, "until its home says something newer"


def test_in_one_history_the_newest_form_counts_and_another_original_is_another_object() -> None:
    before = Entry(place("cache"), "uid", WHAT[SHARD], SEEN_AT, origin=NEWER)

    for news in (
        There(place("cache"), "uid", FORMER, Moment("store", "first", "60"), OLDER, SAME),
        shown(Origin("made anew", "80"), FORKED),
        shown(Origin(), FORKED),
    ):
        after = judged(before, news, LATER, home="amber")
        assert after is not None
        assert after.what == FORMER


ANOTHER = Origin("another", "7", "another store")


def taking_its_place(lineage: Lineage = OTHER, origin: Origin = ANOTHER, url: str = "https://another") -> There:
    moment = Moment(lineage.store, lineage.term, "120")
    return There(place("cache"), "another uid", SeenShard("beryl", url), moment, origin, lineage)


def stays(state: State, news: There) -> State | None:
    before = msgspec.structs.replace(entry("cache", state), origin=Origin("original", "90", "its store"))
    after = displaced(before, news, LATER)
    assert after is None or (after.what, after.place.former, after.uid) == (before.what, "original", before.uid)
    return after.state if after else None


def test_a_shard_that_was_lost_is_held_beside_another_that_has_taken_its_place() -> None:
    assert stays(State.HELD, taking_its_place(SAME)) is State.HELD, "it was lost in an earlier history"
    for lineage in (FORKED, OTHER, UNTOLD):
        assert stays(State.PRESENT, taking_its_place(lineage)) is State.HELD, "whoever is there now was seen first"


def test_what_is_there_takes_the_place_of_an_older_form_of_itself_or_of_what_has_its_url() -> None:
    for state in (State.PRESENT, State.HELD):
        for origin in (Origin("original", "95"), Origin("made anew", "95", "its store")):
            assert stays(state, taking_its_place(origin=origin)) is None
        assert stays(state, taking_its_place(url="https://beryl")) is None


def test_in_one_history_another_object_is_the_newest_form_of_what_it_is_called() -> None:
    for state in (State.PRESENT, State.LEAVING):
        assert stays(state, taking_its_place(SAME)) is None


def test_of_a_server_that_says_nothing_of_its_history_the_informer_knows_whether_it_is_one() -> None:
    before = entry("cache", moment=Moment(revision="50"))

    for is_unbroken in (True, False):
        news = msgspec.structs.replace(taking_its_place(UNTOLD), is_unbroken=is_unbroken)
        assert (displaced(before, news, LATER) is None) is is_unbroken


@pytest.mark.parametrize("state", State)
def test_what_cannot_be_read_is_there_as_it_was(state: State) -> None:
    after = judged(entry("cache", state), Malformed(place("cache"), "no spec"), LATER, home="amber")

    assert after == entry("cache")
    assert judged(None, Malformed(place("cache"), "no spec"), LATER, home="amber") is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", [State.PRESENT, State.HELD])
def test_a_deletion_at_home_counts_at_once_and_one_in_the_cache_has_to_settle(kind: Kind, state: State) -> None:
    for source, expected in (("local", None), ("cache", State.LEAVING)):
        before = entry(source, state, kind=kind)  # type: ignore[arg-type]
        news = Missing(before.place, Evidence.DELETED_EVENT)

        after = judged(before, news, LATER, home="amber")

        assert (after and after.state) == expected
        assert after is None or after.since == LATER


def test_absence_in_a_history_in_which_it_was_there_is_evidence() -> None:
    """Also where the informer itself cannot know, such as after a restart."""
    absent = Evidence.ABSENT_IN_NEW_HISTORY

    assert state_after(entry("local"), missing("local", absent, SAME)) is None
    assert state_after(entry("cache"), missing("cache", absent, SAME)) is State.LEAVING


@pytest.mark.parametrize("lineage", [FORKED, OTHER, UNTOLD], ids=["restored from before it", "other", "untold"])
@pytest.mark.parametrize("evidence", [Evidence.ABSENT_FROM_LIST, Evidence.ABSENT_IN_NEW_HISTORY])
@pytest.mark.parametrize("source", ["local", "cache"])
def test_absence_in_any_other_history_is_never_evidence(source: Source, evidence: Evidence, lineage: Lineage) -> None:
    """Least of all where the informer went on with it, having seen nothing of what was before."""
    assert state_after(entry(source), missing(source, evidence, lineage)) is State.HELD


def test_absence_at_a_revision_before_the_object_was_seen_is_no_evidence() -> None:
    assert state_after(entry("cache"), missing("cache", Evidence.ABSENT_FROM_LIST, SAME, "40")) is State.HELD


def test_of_a_server_that_says_nothing_of_its_history_the_informer_is_believed() -> None:
    before = entry("cache", moment=Moment(revision="50"))

    for evidence, state in (
        (Evidence.ABSENT_FROM_LIST, State.LEAVING),
        (Evidence.ABSENT_IN_NEW_HISTORY, State.HELD),
    ):
        assert state_after(before, missing("cache", evidence)) is state


def test_what_is_held_stays_held_since_then_however_often_it_is_missed() -> None:
    before = entry("cache", State.HELD)

    for evidence in (Evidence.ABSENT_FROM_LIST, Evidence.ABSENT_IN_NEW_HISTORY):
        for lineage in (SAME, OTHER):
            assert judged(before, missing("cache", evidence, lineage), LATER, home="amber") is before


def test_what_is_leaving_is_held_once_its_history_is_lost() -> None:
    after = judged(
        entry("cache", State.LEAVING), missing("cache", Evidence.ABSENT_IN_NEW_HISTORY, OTHER), LATER, home="amber"
    )

    assert after is not None
    assert (after.state, after.since) == (State.HELD, LATER)


@pytest.mark.parametrize("evidence", [one for one in Evidence if one is not Evidence.NONE])
@pytest.mark.parametrize("lineage", [SAME, OTHER])
def test_the_process_own_shard_never_leaves_its_own_store(evidence: Evidence, lineage: Lineage) -> None:
    own = entry("local", name="amber")

    assert judged(own, Missing(own.place, evidence, lineage, "120"), LATER, home="amber") is own


def test_a_url_is_gone_by_another_usable_one_and_by_the_shards_own_end() -> None:
    before = entry("cache")

    def urls(after: SeenShard | None) -> tuple[str, ...]:
        gone = parted(before, Entry(before.place, "uid", after, SEEN_AT) if after else None, LATER)
        return gone.urls if gone else ()

    assert urls(SeenShard("beryl", "https://moved")) == ("https://beryl",)
    assert urls(None) == ("https://beryl",)
    assert urls(SeenShard("beryl", "https://beryl", {"region": "eu"})) == ()
    assert urls(SeenShard("beryl", "10.0.0.1:6443")) == ()


def test_an_exports_references_are_gone_by_another_path_and_by_its_end() -> None:
    before = entry("cache", kind=EXPORT)

    moved = parted(before, Entry(before.place, "uid", SeenExport("c1", "root:two", "beryl"), SEEN_AT), LATER)
    ended = parted(before, None, LATER)

    assert moved is not None
    assert moved.references == (("root:one", "beryl"),)
    assert ended is not None
    assert ended.references == (("c1", "beryl"), ("root:one", "beryl"))
