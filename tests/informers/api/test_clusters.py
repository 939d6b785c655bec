"""Names and paths of logical clusters follow kcp."""

import pytest

from informers.api.clusters import has_prefix, is_name, is_path, join, new_name, shard_hash, split


@pytest.mark.parametrize("text", ["root", "ab", "a1-b", "2x7abcdefghijklm", "system:admin", "a" * 63])
def test_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize("text", ["", "a", "*", "Root", "-a", "a-", "root:org", "a" * 64, "a_b", "root\n", "ä1"])
def test_what_is_not_a_name(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize(
    ("text", "valid"), [("root:org:ws", True), ("a", True), ("", False), ("a::b", False), ("*", False)]
)
def test_paths(text: str, valid: bool) -> None:
    assert is_path(text) is valid


def test_paths_split_on_the_last_colon_and_system_names_do_not() -> None:
    assert split("root:org:ws") == ("root:org", "ws")
    assert split("root") == ("", "root")
    assert split("system:admin") == ("", "system:admin")


def test_joining_to_an_empty_path_gives_the_name_alone() -> None:
    assert join("", "root") == "root"
    assert join("root", "org") == "root:org"


def test_a_prefix_covers_whole_words() -> None:
    assert has_prefix("root:org:ws", "root:org")
    assert not has_prefix("root:organic", "root:org")


def test_generated_names_are_fresh_valid_names() -> None:
    names = {new_name() for _ in range(50)}

    assert len(names) == 50
    assert all(is_name(n) and len(n) == 16 for n in names)


def test_shards_are_named_by_eight_characters() -> None:
    assert len(shard_hash("amber")) == 8
    assert shard_hash("amber") != shard_hash("beryl")
