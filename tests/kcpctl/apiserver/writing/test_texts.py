"""Words about broken JSON and YAML, as encoding/json and go-yaml say them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.writing import jsontext, strict, yamltext
from kcpctl.apiserver.writing.syntax import fault

LOOKING = "looking for beginning of value"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unexpected end of JSON input"),
        ('{"a":', "unexpected end of JSON input"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", f"invalid character ']' {LOOKING}"),
        ("{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        ("{}x", "invalid character 'x' after top-level value"),
        ("01", "invalid character '1' after top-level value"),
        ("-", "invalid character ' ' in numeric literal"),
        ("1.", "invalid character ' ' after decimal point in numeric literal"),
        ("1e+x", "invalid character 'x' in exponent of numeric literal"),
        ("tru", "invalid character ' ' in literal true (expecting 'e')"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        ('"a\x01"', "invalid character '\\x01' in string literal"),
        ("é", f"invalid character 'Ã' {LOOKING}"),
        ("[" * 10_001, "exceeded max depth"),
    ],
)
def test_a_fault_is_named_as_go_names_it(text: str, message: str) -> None:
    assert fault(text.encode()) == message


@given(st.text(alphabet="{}[]\":,\\-+.eE0123trufalsn \n'u\x01é", max_size=30))
def test_there_is_a_fault_exactly_where_a_text_is_not_json(text: str) -> None:
    try:
        json.loads(text, parse_constant=lambda name: pytest.fail(name))
        is_json = True
    except ValueError:
        is_json = False

    assert (fault(text.encode()) == "") is is_json


numbers = st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    numbers | st.text(max_size=5) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_a_text_says_the_same_however_it_is_spaced_and_escaped(value: Any) -> None:
    spaced = jsontext.read(json.dumps(value, indent=1).encode())
    compact = jsontext.read(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    assert repr(compact.value) == repr(spaced.value)


@given(st.dictionaries(st.sampled_from("abc"), values, min_size=1, max_size=2), values)
def test_a_key_that_is_said_twice_is_noticed_however_the_text_is_spaced(obj: Any, value: Any) -> None:
    for separators in ((",", ":"), (", ", ": ")):
        text = json.dumps(obj, ensure_ascii=False, separators=separators)
        again = f"{text[:-1]}{separators[0]}{json.dumps(next(iter(obj)))}{separators[1]}{json.dumps(value)}}}"

        assert not jsontext.read(text.encode()).has_duplicates
        assert jsontext.read(again.encode()).has_duplicates


def test_what_is_no_json_in_python_either_has_gos_words() -> None:
    with pytest.raises(jsontext.JsonError, match="invalid character 'N' looking for beginning of value"):
        jsontext.read(b'{"a":NaN}')
    with pytest.raises(jsontext.JsonError, match="cannot unmarshal number 1e400 into Go value of type float64"):
        jsontext.read(b"[1e400]")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "a: 0x1F\nb: 010\nc: 0o10\nd: 1_000\ne: 1e3\nf: .5\ng: 0b11\nh: +5\n",
            {"a": 31, "b": 8, "c": 8, "d": 1000, "e": 1000, "f": 0.5, "g": 3, "h": 5},
        ),
        ("a: yes\nb: ~\nc: off\nd: y\ne: NO\n", {"a": True, "b": None, "c": False, "d": True, "e": False}),
        (
            "a: 2024-01-01\nb: '1'\nc: !!str 1\nd: 1:30\ne: 1e400\n",
            {"a": "2024-01-01", "b": "1", "c": "1", "d": "1:30", "e": "1e400"},
        ),
        ("a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  b: 2\n", {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 2}}),
        ("1: a\ntrue: b\n1.5: c\n", {"1": "a", "true": "b", "1.5": "c"}),
        ("a: 1\n---\nb: 2\n", {"a": 1}),
        ("a: !!binary YQ==\n", {"a": "a"}),
        ("", None),
    ],
)
def test_yaml_is_what_go_yaml_takes_it_for(text: str, value: Any) -> None:
    found = yamltext.read(text.encode()).value

    assert found == value
    assert json.dumps(found) == json.dumps(value)  # 1 and true are not the same


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: [x,\n", "yaml: line 2: did not find expected node content"),
        ("a: b: c\n", "yaml: mapping values are not allowed in this context"),
        ("a:\n  - b\n c: d\n", "yaml: line 2: did not find expected key"),
        ('a: "x\n', "yaml: line 2: found unexpected end of stream"),
        ("a: *y\n", "yaml: unknown anchor 'y' referenced"),
        ("a: &a [*a]", "yaml: anchor 'a' value contains itself"),
        ("a: .inf\n", "json: unsupported value: +Inf"),
        ("a: !!int x\n", "yaml: cannot decode !!str `x` as a !!int"),
        ("a: \x01", "yaml: control characters are not allowed"),
        ("<<: 1\n", "yaml: map merge requires map or sequence of maps as the value"),
    ],
)
def test_broken_yaml_has_go_yamls_words(text: str, message: str) -> None:
    with pytest.raises(yamltext.YamlError) as error:
        yamltext.read(text.encode())

    assert str(error.value) == message


def test_yaml_that_blows_up_is_refused() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(yamltext.YamlError, match="document contains excessive aliasing"):
        yamltext.read("\n".join(lines).encode())


def test_copies_of_an_anchor_are_apart() -> None:
    value = yamltext.read(b"a: &x {b: 1}\nc: *x\n").value

    value["a"]["b"] = 2

    assert value["c"] == {"b": 1}


def test_merged_and_repeated_keys_are_told_with_their_lines() -> None:
    found = yamltext.read(b'"a": 1\n<<: {a: 2, c: 3}\n1: x\n1: y\n')

    assert found.problem == (
        'yaml: unmarshal errors:\n  line 2: key "a" already set in map\n  line 4: key 1 already set in map'
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_json_reads_as_json_said_it(value: Any) -> None:
    found = jsontext.read(json.dumps(value).encode())

    assert found.value == json.loads(json.dumps(value).encode().decode("utf-8", "replace"))
    assert not found.has_duplicates
    assert strict.problems(found.text) == []


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), json_values, min_size=1, max_size=3))
def test_a_key_said_twice_is_noticed_and_named(value: dict[str, Any]) -> None:
    key = next(iter(value))
    text = json.dumps(value)[:-1] + f", {json.dumps(key)}: 1}}"

    found = jsontext.read(text.encode())

    assert found.has_duplicates
    assert strict.problems(found.text) == [f'duplicate field "{key}"']
