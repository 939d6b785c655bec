import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.gotext import as_json, number, quote, shown


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (1.5, "1.5"),
        (30.0, "30"),
        (100000.0, "100000"),
        (1e6, "1e+06"),
        (123456789.0, "1.23456789e+08"),
        (1e21, "1e+21"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-2.5, "-2.5"),
        (0.0, "0"),
        (float("inf"), "+Inf"),
        (7, "7"),
        (10**7, "10000000"),
        (True, "true"),
    ],
)
def test_numbers_print_as_go_prints_them(value: float, printed: str) -> None:
    assert number(value) == printed


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_float_is_the_same_float(value: float) -> None:
    assert float(number(value)) == value


def test_texts_are_quoted_with_gos_escapes() -> None:
    assert quote('a"b\\\n\x01é\x7f') == '"a\\"b\\\\\\n\\x01é\\x7f"'


def test_json_is_sorted_tight_and_safe_in_html() -> None:
    assert as_json({"b": "x>1", "a": [1, 2.0, 2.5, None, True]}) == '{"a":[1,2,2.5,null,true],"b":"x\\u003e1"}'


def test_field_errors_show_texts_quoted_and_null_bare() -> None:
    assert [shown("a"), shown(None), shown(3), shown({"k": "v"})] == ['"a"', "null", "3", '{"k":"v"}']
