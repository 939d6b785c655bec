"""Base64 is read by the rules of Go's standard encoding."""

import binascii
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.shapes.base64 import canonical, decode


@pytest.mark.parametrize(
    ("text", "offset"),
    [("???", 0), ("abc", 0), ("ab=", 3), ("ab=x", 2), ("abcd?", 4), ("abcd=", 4), ("abc=x", 4), ("YQ==YQ==", 4)],
)
def test_an_error_names_the_byte_that_go_names(text: str, offset: int) -> None:
    with pytest.raises(binascii.Error, match=f"illegal base64 data at input byte {offset}$"):
        decode(text)


def test_newlines_and_stray_bits_do_not_survive() -> None:
    assert canonical("Y\r\nR==\n") == "YQ=="


@given(st.binary())
def test_what_was_encoded_is_canonical(data: bytes) -> None:
    text = b64encode(data).decode()

    assert decode(text) == data
    assert canonical(text) == text
