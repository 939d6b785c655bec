"""A published URL appears when a shard is known and goes only on evidence."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.publishing import FAILED, HELD, Decision, SeenShard, Shards, decide, urls_condition
from controllers.urls import Frame, frame_of
from informers.api.selectors import EVERYTHING, NOTHING, LabelSelector

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 1, 1, 13, tzinfo=UTC)
AMBER = SeenShard("amber", "https://amber:6443", {"region": "eu"})
BERYL = SeenShard("beryl", "https://beryl:6443", {"region": "us"})
EU = LabelSelector.parse("region=eu")


def url(shard: str, cluster: str = "c1") -> str:
    return f"https://{shard}:6443/services/apiexport/{cluster}/e"


def known(*shards: SeenShard, retired: tuple[str, ...] = ()) -> Shards:
    return Shards(shards, frozenset(frame for one in retired if isinstance(frame := frame_of(one), Frame)), NOON)


def decided(published: list[str], shards: Shards, selector: LabelSelector = EVERYTHING) -> Decision:
    return decide(published, "c1", "e", shards, selector)


def test_every_known_shard_is_published_sorted() -> None:
    assert decided([], known(BERYL, AMBER)).urls == (url("amber"), url("beryl"))


def test_shards_with_one_url_are_published_once() -> None:
    twin = SeenShard("zinc", "https://amber:6443")

    assert decided([], known(AMBER, twin)).urls == (url("amber"),)


def test_a_shard_that_is_not_selected_any_more_goes() -> None:
    assert decided([url("amber"), url("beryl")], known(AMBER, BERYL), EU) == Decision((url("amber"),))


def test_a_selector_of_nothing_empties_the_list() -> None:
    assert decided([url("amber")], known(AMBER), NOTHING) == Decision(())


def test_a_shard_that_evidently_bears_another_url_loses_the_old_one() -> None:
    moved = SeenShard("amber", "https://new:6443")

    assert decided([url("amber")], known(moved, retired=("https://amber:6443",))) == Decision((url("new"),))


def test_a_url_that_no_known_shard_accounts_for_is_held() -> None:
    decision = decided([url("amber"), url("beryl")], known(AMBER))

    assert decision.urls == (url("amber"), url("beryl"))
    assert [(h.what, h.why, h.since) for h in decision.held] == [(url("beryl"), "no known Shard has it", NOON)]


def test_nothing_known_takes_nothing_away() -> None:
    assert decided([url("amber"), url("beryl")], known()).urls == (url("amber"), url("beryl"))


def test_a_held_shard_counts_as_there_for_old_and_new_slices_alike() -> None:
    silent = SeenShard("beryl", BERYL.url, BERYL.labels, held_since=NOON)

    old, new = decided([url("amber"), url("beryl")], known(AMBER, silent)), decided([], known(AMBER, silent))

    assert old == new
    assert old.urls == (url("amber"), url("beryl"))
    assert [h.what for h in old.held] == [url("beryl")]


def test_a_held_shard_still_obeys_the_partition() -> None:
    silent = SeenShard("beryl", BERYL.url, BERYL.labels, held_since=NOON)

    assert decided([url("beryl")], known(AMBER, silent), EU) == Decision((url("amber"),))


def test_an_export_that_moved_to_another_cluster_takes_its_urls_along() -> None:
    assert decided([url("amber", "c0")], known(AMBER)) == Decision((url("amber"),))


def test_urls_for_a_cluster_that_the_export_may_still_be_in_are_held() -> None:
    old = [url("amber", "c0"), url("amber", "c2")]

    decision = decide(old, "c1", "e", known(AMBER), EVERYTHING, has_left=lambda cluster: cluster == "c2")

    assert decision.urls == (url("amber", "c0"), url("amber"))
    assert [(held.what, held.why) for held in decision.held] == [(old[0], "APIExport c0|e may still be there")]


def test_an_export_that_moves_takes_all_its_urls_along_whatever_stands_around_the_clusters_name() -> None:
    """A thousand shards: comparing every old URL with each of them held the loop for 49 s."""
    bases = [f"https://s{n}:6443/some/path?a=b" for n in range(1000)]
    old = [f"https://s{n}:6443/some/path/services/apiexport/c0/e?a=b" for n in range(1000)]

    decision = decided(old, known(*(SeenShard(f"s{n}", base) for n, base in enumerate(bases))))

    assert set(decision.urls) == {one.replace("/c0/", "/c1/") for one in old}
    assert decision.held == ()


def test_another_exports_url_is_not_taken_for_ours() -> None:
    other = "https://amber:6443/services/apiexport/c1/other"

    assert decided([other], known(AMBER)).urls == (url("amber"), other)


def test_an_unusable_url_is_named_and_the_others_go_on() -> None:
    broken = SeenShard("beryl", "10.0.0.1:6443")

    decision = decided([], known(AMBER, broken))

    assert decision.urls == (url("amber"),)
    assert [(u.shard, u.url) for u in decision.unusable] == [("beryl", "10.0.0.1:6443")]


def test_a_url_whose_shard_became_unusable_stays() -> None:
    broken = SeenShard("amber", "")

    decision = decided([url("amber")], known(broken))

    assert decision.urls == (url("amber"),)
    assert [held.why for held in decision.held] == ["no known Shard has it (1 with unusable URLs)"]


names = st.sampled_from(["amber", "beryl", "coral", "dune"])
shards = st.builds(
    lambda name, region, held: SeenShard(name, f"https://{name}:6443", {"region": region}, NOON if held else None),
    names,
    st.sampled_from(["eu", "us"]),
    st.booleans(),
)


@given(
    st.lists(names, unique=True).map(lambda found: [url(n) for n in found]),
    st.lists(shards, unique_by=lambda s: s.name),
    st.sampled_from([EVERYTHING, NOTHING, EU]),
)
def test_deciding_again_changes_nothing_and_nothing_unaccounted_goes(
    published: list[str], seen: list[SeenShard], selector: LabelSelector
) -> None:
    first = decided(published, known(*seen), selector)

    assert decided(list(first.urls), known(*seen), selector) == first
    assert list(first.urls) == sorted(set(first.urls))
    accounted = {url(s.name) for s in seen if not selector.matches(s.labels)}
    assert set(published) - set(first.urls) <= accounted


def test_held_urls_make_the_condition_unknown_and_say_what_and_since_when() -> None:
    condition = urls_condition("EndpointURLsReady", decided([url("beryl")], known()), None, LATER)

    assert (condition.status, condition.reason, condition.severity) == ("Unknown", HELD, "")
    assert condition.message == f"{url('beryl')} is held: no known Shard has it (since 2026-01-01T12:00:00Z)"


def test_the_condition_is_written_only_when_the_held_set_changes() -> None:
    before = urls_condition("EndpointURLsReady", decided([url("beryl")], known()), None, LATER)
    restarted = Shards((), frozenset(), LATER)

    assert urls_condition("EndpointURLsReady", decided([url("beryl")], restarted), before, LATER) is before
    grown = urls_condition("EndpointURLsReady", decided([url("beryl"), url("coral")], restarted), before, LATER)
    assert grown != before


def test_only_unusable_urls_make_the_condition_false() -> None:
    condition = urls_condition("EndpointURLsReady", decided([], known(SeenShard("amber", "://x"))), None, NOON)

    assert (condition.status, condition.reason) == ("False", FAILED)
    assert "Shard amber has the unusable URL '://x'" in condition.message


BROKEN = SeenShard("beryl", "://x")


@pytest.mark.parametrize(
    ("seen", "selector"),
    [((AMBER,), EVERYTHING), ((AMBER,), NOTHING), ((AMBER, BROKEN), EVERYTHING), ((AMBER, BROKEN), NOTHING)],
    ids=["all", "none", "one is unusable", "one that is not wanted is unusable"],
)
def test_otherwise_the_condition_is_true(seen: tuple[SeenShard, ...], selector: LabelSelector) -> None:
    condition = urls_condition("EndpointURLsReady", decided([], known(*seen), selector), None, NOON)

    assert (condition.status, condition.reason, condition.message) == ("True", "", "")
