"""Promises of what a server's word about its store is read as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.histories import Lineage, read_lineage

TEXT = "0b5f4c1e-7d57-4d5e-9a43-2f6f4f1d8c11 1a2b3c4d@100 5e6f7a8b@140"


def test_a_store_is_told_with_its_terms() -> None:
    found = read_lineage(TEXT)

    assert found.store == "0b5f4c1e-7d57-4d5e-9a43-2f6f4f1d8c11"
    assert found.terms == (("1a2b3c4d", 100), ("5e6f7a8b", 140))
    assert found.term == "5e6f7a8b"


@pytest.mark.parametrize("text", ["", "store", "store term", "store @5", "store t@5 ", "store t@", "a  t@5", "a t@-5"])
def test_what_is_not_in_that_form_says_nothing(text: str) -> None:
    assert read_lineage(text) == Lineage()


@pytest.mark.parametrize(
    ("term", "revision", "is_included"),
    [
        ("1a2b3c4d", "120", True),
        ("1a2b3c4d", "140", True),
        ("1a2b3c4d", "141", False),  # it was written in that term, and this store has never had it
        ("5e6f7a8b", "150", True),
        ("5e6f7a8b", "90", True),  # a watch that was resumed in this term, and has only brought old events so far
        ("99999999", "120", False),
        ("", "120", False),
        ("5e6f7a8b", "", False),
        ("5e6f7a8b", "abc", False),
    ],
)
def test_a_terms_revisions_end_where_the_next_one_began(term: str, revision: str, is_included: bool) -> None:
    assert read_lineage(TEXT).includes(term, revision) is is_included


def test_who_says_nothing_includes_nothing() -> None:
    assert not Lineage().includes("", "5")


@given(st.text("a5@ \n٣") | st.text())
def test_no_text_is_too_strange_to_be_read(text: str) -> None:
    found = read_lineage(text)

    assert found == Lineage() or text == " ".join([found.store, *(f"{name}@{since}" for name, since in found.terms)])
