"""What is known of shards and exports, in the form that controllers ask for."""

from datetime import UTC, datetime

from controllers.entries import EXPORT, SHARD, Entry, Kind, Moment, Place, SeenExport, Source, State
from controllers.judging import Draft
from controllers.keeping import Changes
from controllers.publishing import SeenShard
from controllers.sightings import Sightings
from controllers.urls import frame_of
from informers.api.objects import Key

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LOST = (State.HELD, State.LEAVING)


def shard(name: str, url: str = "", *, at: str = "", state: State = State.PRESENT, **labels: str) -> Entry:
    """Return a Shard that is stored at the shard `at`, or at home."""
    source: Source = "cache" if at else "local"
    seen = SeenShard(name, url or f"https://{name}", labels)
    since = None if state is State.PRESENT else NOON
    return Entry(Place(SHARD, source, Key(at, "root", "", name)), f"uid-{name}", seen, Moment(), state, since)


def export(cluster: str, path: str = "", *, at: str = "", state: State = State.PRESENT) -> Entry:
    source: Source = "cache" if at else "local"
    since = None if state is State.PRESENT else NOON
    place = Place(EXPORT, source, Key(at, cluster, "", "e"))
    return Entry(place, f"uid-{cluster}", SeenExport(cluster, path, "e"), Moment(), state, since, "is not there")


def knowing(*entries: Entry, home: str = "amber") -> Sightings:
    known = Sightings(home)
    for entry in entries:
        change(known, entry)
    return known


def change(known: Sightings, entry: Entry) -> None:
    draft = Draft(known, NOON)
    draft.change(entry.place, entry)
    known.apply(draft.changes())


def drop(known: Sightings, entry: Entry) -> None:
    draft = Draft(known, NOON)
    draft.change(entry.place, None)
    known.apply(draft.changes())


def urls(known: Sightings) -> list[tuple[str, str]]:
    return [(one.name, one.url) for one in known.shards().seen]


def test_the_answer_is_the_same_value_until_a_shard_changes() -> None:
    known = knowing(shard("amber"))
    before = known.shards()

    change(known, export("c1"))
    assert known.shards() is before

    change(known, shard("beryl", at="beryl"))
    assert known.shards() is not before


def test_what_is_held_or_leaving_counts_and_only_what_is_held_says_so() -> None:
    known = knowing(shard("beryl", at="beryl", state=State.HELD), shard("coral", at="coral", state=State.LEAVING))

    assert [(one.name, one.held_since) for one in known.shards().seen] == [("beryl", NOON), ("coral", None)]
    assert {entry.key.name for entry in known.held()} == {"beryl", "coral"}


def test_what_went_retires_its_url() -> None:
    known = knowing(shard("beryl", at="beryl"))

    drop(known, shard("beryl", at="beryl"))

    assert urls(known) == []
    assert frame_of("https://beryl") in known.shards().retired


def test_twins_count_once_and_the_one_at_home_is_preferred() -> None:
    known = knowing(shard("beryl", "https://mirror", at="coral"))
    assert urls(known) == [("beryl", "https://mirror")]

    change(known, shard("beryl", "https://home", at="beryl"))
    assert urls(known) == [("beryl", "https://home")]


def test_twins_of_which_none_is_at_home_count_both() -> None:
    known = knowing(shard("beryl", "https://one", at="coral"), shard("beryl", "https://two", at="dune"))

    assert urls(known) == [("beryl", "https://one"), ("beryl", "https://two")]


def test_what_others_say_of_a_shard_is_outdone_once_it_speaks_for_itself() -> None:
    known = knowing(shard("beryl", "https://mirror", at="coral"), shard("beryl", "https://home", at="beryl"))

    assert known.shards().outdone == {frame_of("https://mirror")}


def test_beside_a_twin_that_is_there_counts_what_is_not_and_has_another_url() -> None:
    mirror = shard("beryl", "https://mirror", at="coral")
    for state in LOST:
        known = knowing(mirror, shard("beryl", "https://home", at="beryl", state=state))
        assert urls(known) == [("beryl", "https://mirror"), ("beryl", "https://home")]

        same = knowing(mirror, shard("beryl", "https://mirror", at="beryl", state=state))
        assert urls(same) == [("beryl", "https://mirror")]


def test_a_shard_that_one_source_still_shows_is_there() -> None:
    known = knowing(shard("beryl"), shard("beryl", at="beryl", state=State.HELD))

    assert [(one.name, one.held_since) for one in known.shards().seen] == [("beryl", None)]


def test_another_shards_own_word_goes_before_what_is_stored_of_it_here() -> None:
    known = knowing(shard("beryl", "https://mirror"), shard("beryl", "https://home", at="beryl"))

    assert urls(known) == [("beryl", "https://home")]


def test_the_own_shard_is_what_it_says_here_whatever_its_copy_still_says() -> None:
    for state in State:
        known = knowing(shard("amber", "https://old", at="amber", state=state))
        assert urls(known) == [("amber", "https://old")]

        change(known, shard("amber", "https://new", region="eu"))

        [seen] = known.shards().seen
        assert (seen.url, seen.labels, seen.held_since) == ("https://new", {"region": "eu"}, None)


def test_the_local_shard_alone_is_what_the_local_server_has_now() -> None:
    known = knowing(shard("amber", "https://copy", at="amber"), shard("beryl"))
    assert known.only("amber").seen == ()

    change(known, shard("amber", "https://here"))
    assert [one.url for one in known.only("amber").seen] == ["https://here"]

    change(known, shard("amber", "https://here", state=State.HELD))
    assert known.only("amber").seen == ()


def test_an_export_is_found_by_cluster_and_by_path_also_while_it_is_not_there() -> None:
    for state in State:
        known = knowing(export("c1", "root:org", at="beryl", state=state))

        for reference in ("c1", "root:org"):
            found = known.exports.seen(reference, "e")
            assert found is not None
            assert (found.key.cluster, found.state) == ("c1", state)
        assert known.exports.clusters("root:org", "e") == {"c1"}
        assert not known.exports.evidently_gone("c1", "e")


def test_of_several_exports_one_that_is_there_comes_first() -> None:
    known = knowing(
        export("c1", "root:org", at="beryl", state=State.HELD),
        export("c2", "root:org", at="coral"),
        export("c3", "root:org", at="dune", state=State.LEAVING),
    )

    assert [one.key.cluster for one in known.exports.find("root:org", "e")] == ["c2", "c1", "c3"]


def test_an_export_that_went_is_evidently_gone_until_there_is_one_again() -> None:
    known = knowing(export("c1", "root:org", at="beryl"))
    went = export("c1", "root:org", at="beryl")
    drop(known, went)
    assert known.exports.evidently_gone("root:org", "e")
    assert known.exports.last_uid("root:org", "e") == went.uid != ""
    assert not known.exports.evidently_gone("root:org", "other")
    assert known.exports.last_uid("root:org", "other") == ""

    change(known, export("c2", "root:org", at="beryl"))

    assert not known.exports.evidently_gone("root:org", "e")
    assert known.exports.evidently_gone("c1", "e")


def test_an_export_whose_path_changed_is_found_by_the_new_one_alone() -> None:
    known = knowing(export("c1", "root:org", at="beryl"))

    change(known, export("c1", "root:new", at="beryl"))

    assert known.exports.seen("root:org", "e") is None
    assert known.exports.evidently_gone("root:org", "e")
    assert known.exports.seen("root:new", "e") is not None


def test_what_is_called_alike_is_found_by_its_name_and_nothing_is_left_of_what_went() -> None:
    twins = [export("c1", at="beryl"), export("c1", at="coral"), export("c1")]
    known = knowing(*twins)
    assert set(known.named(twins[0].place.name)) == {one.place for one in twins}

    for one in twins:
        drop(known, one)

    assert set(known.named(twins[0].place.name)) == set()
    assert list(known) == []


def test_what_is_kept_and_applied_anew_is_known_as_before() -> None:
    entries = (
        shard("amber"),
        shard("beryl", at="beryl", state=State.HELD),
        export("c1", "root:org", at="beryl"),
        export("c2", "root:org", at="coral", state=State.LEAVING),
    )
    known = knowing(*entries)

    again = Sightings("amber")
    again.apply(Changes({entry.place: entry for entry in known}))

    assert again.shards().seen == known.shards().seen
    assert again.exports.find("root:org", "e") == known.exports.find("root:org", "e")
    kinds: tuple[Kind, ...] = (SHARD, EXPORT)
    assert [again.entries(kind) for kind in kinds] == [known.entries(kind) for kind in kinds]
