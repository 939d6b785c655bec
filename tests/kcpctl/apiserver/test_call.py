"""What a request's query says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.call import Call, Query, Scope
from kcpctl.apiserver.failures import Failure
from tests.kcpctl.apiserver.kinds import CONFIGMAPS


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", False),
        ("watch=false", False),
        ("watch=0", False),
        ("watch=FALSE", False),
        ("watch=true", True),
        ("watch", True),
        ("watch=", True),
        ("watch=notabool", True),
        ("watch=0&watch=1", False),
    ],
)
def test_booleans_are_lenient(query: str, expected: bool) -> None:
    assert Query(query).flag("watch") is expected


def test_an_absent_choice_is_told_from_a_false_one() -> None:
    assert Query("").choice("sendInitialEvents") is None
    assert Query("sendInitialEvents=false").choice("sendInitialEvents") is False


@pytest.mark.parametrize("text", ["abc", "", " 1", "1_0", "٣", "1.0", "0x1"])
def test_what_is_no_decimal_is_refused_in_the_words_of_strconv(text: str) -> None:
    with pytest.raises(Failure) as caught:
        Query(f"limit={text}").integer("limit")

    assert caught.value.status.code == 400
    assert caught.value.status.message.endswith("invalid syntax")


@pytest.mark.parametrize("text", [str(1 << 63), "-" + str((1 << 63) + 1), "9" * 5000])
def test_numbers_beyond_64_bits_are_out_of_range(text: str) -> None:
    with pytest.raises(Failure, match="value out of range"):
        Query(f"limit={text}").integer("limit")


@given(st.integers(min_value=-(1 << 63), max_value=(1 << 63) - 1))
def test_every_64_bit_integer_is_read(number: int) -> None:
    assert Query(f"limit={number}").integer("limit") == number


def test_values_are_decoded_once_and_kept_in_order() -> None:
    query = Query("exclude=a%252Fb&exclude=c+d&labelSelector=par%3Deven")

    assert query.all("exclude") == ("a%2Fb", "c d")
    assert query.text("labelSelector") == "par=even"
    assert query.text("fieldSelector", "none") == "none"


@given(st.text())
def test_no_query_is_too_odd_to_be_read(raw: str) -> None:
    query = Query(raw)

    assert all(query.all(name) for name in query)


@pytest.mark.parametrize(
    ("header", "expected"),
    [("application/json; charset=utf-8", "application/json"), ("Application/YAML", "application/yaml"), ("", "")],
)
def test_a_media_type_is_read_without_its_parameters(header: str, expected: str) -> None:
    call = Call("create", CONFIGMAPS, Scope("root"), Query(), headers={"content-type": header})

    assert call.content_type == expected
