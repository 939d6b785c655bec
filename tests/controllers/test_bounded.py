"""What is remembered never grows without end."""

from controllers.bounded import Bounded, BoundedMap


def test_a_bounded_set_forgets_what_was_added_longest_ago() -> None:
    found: Bounded[str] = Bounded(3)
    for member in ("a", "b", "c", "a", "d"):
        found.add(member)

    assert list(found) == ["c", "a", "d"]
    assert "b" not in found


def test_a_bounded_map_forgets_what_was_put_longest_ago_and_has_the_value_put_last() -> None:
    found: BoundedMap[str, int] = BoundedMap(2)
    for number, member in enumerate(("a", "b", "a", "c")):
        found.put(member, number)

    assert ("a" in found, "b" in found, "c" in found) == (True, False, True)
    assert (found.get("a"), found.get("b")) == (2, None)
