"""What becomes of a Shard whose place another one takes where it was lost: it counts until there is evidence."""

from datetime import UTC, datetime

import pytest

from controllers.entries import SHARD, Moment, Origin, Place, Removal, Source, State
from controllers.evidence import Missing, News, There
from controllers.judging import Draft, StillThere
from controllers.keeping import Standing
from controllers.publishing import SeenShard
from controllers.sightings import Sightings
from controllers.urls import frame_of
from informers.api.histories import Lineage
from informers.api.objects import Key
from informers.cache.notices import Evidence

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST, EMPTIED, AGAIN = (Lineage(name, (("term", 0),)) for name in ("first", "emptied", "again"))
URL, ANOTHERS = "https://beryl", "https://another"


def there(
    url: str, original: str, lineage: Lineage, *, at: Source = "cache", store: str = "", revision: int = 9
) -> There:
    place = Place(SHARD, at, Key("beryl" if at == "cache" else "", "root", "", "beryl"))
    origin = Origin(original, str(revision), store) if at == "cache" else Origin()
    moment = Moment(lineage.store, "term", str(revision))
    return There(place, original, SeenShard("beryl", url), moment, origin, lineage)


def lost(news: There, lineage: Lineage) -> Missing:
    return Missing(news.place, Evidence.ABSENT_IN_NEW_HISTORY, lineage, "9")


OURS = there(URL, "ours", FIRST)
THEIRS = there(ANOTHERS, "theirs", EMPTIED)


def after(*news: News, home: str = "amber", at_once: bool = False) -> Sightings:
    """Return what is known after the news, judged one by one or in one group."""
    known = Sightings(home)
    groups = [news] if at_once else [(one,) for one in news]
    for group in groups:
        draft = Draft(known, NOON)
        for one in group:
            draft.take(one)
        known.apply(draft.changes())
    return known


def urls(known: Sightings) -> dict[str, bool]:
    """Return all URLs, and whether each is held."""
    return {one.url: one.held_since is not None for one in known.shards().seen}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("news", [[OURS, lost(OURS, EMPTIED), THEIRS], [OURS, THEIRS]], ids=["missed", "unmissed"])
def test_both_count_and_the_one_that_was_lost_is_held(news: list[News], at_once: bool) -> None:
    known = after(*news, at_once=at_once)

    assert urls(known) == {URL: True, ANOTHERS: False}
    assert frame_of(URL) not in known.shards().retired
    assert [(entry.uid, entry.state) for entry in known.held()] == [("ours", State.HELD)]


def test_it_stays_so_whatever_becomes_of_the_one_that_took_its_place() -> None:
    moved = there("https://moved", "theirs", EMPTIED, revision=12)
    gone = Missing(OURS.place, Evidence.ABSENT_IN_NEW_HISTORY, AGAIN, "9")

    assert urls(after(OURS, THEIRS, moved)) == {URL: True, "https://moved": False}
    assert urls(after(OURS, THEIRS, gone)) == {URL: True, ANOTHERS: True}
    third = there("https://third", "third", AGAIN)
    assert urls(after(OURS, THEIRS, third)) == {URL: True, ANOTHERS: True, "https://third": False}


@pytest.mark.parametrize("lineage", [EMPTIED, AGAIN], ids=["in the same history", "in the next one"])
def test_once_it_is_back_it_is_there_and_what_had_its_place_is_gone(lineage: Lineage) -> None:
    known = after(OURS, THEIRS, there(URL, "ours", lineage, revision=20))

    assert urls(known) == {URL: False}
    assert known.held() == []
    assert frame_of(ANOTHERS) in known.shards().retired


def test_a_newer_form_of_it_is_evidence_and_so_is_the_history_in_which_it_was_there() -> None:
    ours = there(URL, "ours", FIRST, store="its store")
    anew = there("https://anew", "made anew", EMPTIED, store="its store", revision=20)

    for news in (anew, there("https://anew", "another", FIRST, revision=20)):
        known = after(ours, THEIRS, news)
        assert URL not in urls(known)
        assert frame_of(URL) in known.shards().retired


def test_an_older_form_of_it_is_none() -> None:
    ours = there(URL, "ours", FIRST, store="its store", revision=30)
    older = there("https://older", "earlier", EMPTIED, store="its store", revision=20)

    assert urls(after(ours, older)) == {URL: False}
    assert urls(after(ours, THEIRS, older))[URL] is True


def test_it_goes_by_the_word_of_an_operator_who_means_it_and_the_other_stays() -> None:
    draft = Draft(after(OURS, THEIRS), NOON)
    with pytest.raises(StillThere):
        draft.forget(Removal(SHARD, "beryl", "root", "beryl"))
    assert draft.forget(Removal(SHARD, "beryl", "root", "beryl", "theirs and older")) == 0

    known = after(OURS, THEIRS)
    draft = Draft(known, NOON)
    assert draft.forget(Removal(SHARD, "beryl", "root", "beryl", "ours")) == 1
    known.apply(draft.changes())

    assert urls(known) == {ANOTHERS: False}
    assert frame_of(URL) in known.shards().retired


def test_what_the_local_store_lost_goes_when_that_is_adopted() -> None:
    ours, theirs = there(URL, "ours", FIRST, at="local"), there(ANOTHERS, "theirs", EMPTIED, at="local")
    known = after(ours, lost(ours, EMPTIED), theirs)
    assert urls(known) == {URL: True, ANOTHERS: False}

    draft = Draft(known, NOON)
    assert draft.adopt(Standing()) == 1
    known.apply(draft.changes())

    assert urls(known) == {ANOTHERS: False}
