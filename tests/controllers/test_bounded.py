"""What is remembered never grows without end."""

from controllers.bounded import Bounded


def test_a_bounded_set_forgets_what_was_added_longest_ago() -> None:
    found: Bounded[str] = Bounded(3)
    for member in ("a", "b", "c", "a", "d"):
        found.add(member)

    assert list(found) == ["c", "a", "d"]
    assert "b" not in found
