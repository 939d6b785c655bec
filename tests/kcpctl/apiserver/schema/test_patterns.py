import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft7Validator, RegexOptions

from kcpctl.apiserver.schema.characters import PatternError
from kcpctl.apiserver.schema.patterns import check, translate


def matches(pattern: str, text: str) -> bool:
    return Draft7Validator({"pattern": translate(pattern)}, pattern_options=RegexOptions()).is_valid(text)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("[", "missing closing ]: `[`"),
        ("(a", "missing closing ): `(a`"),
        ("a)", "unexpected ): `a)`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a|+", "missing argument to repetition operator: `+`"),
        ("(?=a)b", "invalid or unsupported Perl syntax: `(?=`"),
        ("x{2,1}", "invalid repeat count: `{2,1}`"),
        ("x{1001}", "invalid repeat count: `{1001}`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
        (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
        (r"\y", r"invalid escape sequence: `\y`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("\\", "trailing backslash at end of expression: ``"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
    ],
)
def test_what_go_refuses_is_refused_in_gos_words(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError) as refused:
        check(pattern)

    assert str(refused.value) == f"error parsing regexp: {problem}"


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"^\d$", "٣", False),
        (r"^\s$", "\u00a0", False),
        (r"^[\s]$", "\v", False),
        (r"^[\S]$", "\v", True),
        ("^a.b$", "a\rb", True),
        ("^a.b$", "a\nb", False),
        ("(?s)^a.b$", "a\nb", True),
        ("^a$", "a\n", False),
        ("(?m)^b$", "a\nb\nc", True),
        (r"(?m)\Ab", "a\nb", False),
        ("(?i)ab|CD", "cD", True),
        ("(a(?i)b)c", "aBC", False),
        ("(?i:a)b", "AB", False),
        ("^[[:^alpha:]]$", "é", True),
        ("^[[:^alpha:]]$", "x", False),
        (r"^[\p{Lu}\d]+$", "É7", True),
        (r"^\Qa.b\E$", "a.b", True),
        (r"^\Qa.b\E$", "axb", False),
        (r"^\x{1F600}\x41\101$", "😀AA", True),
        ("^[]a]+$", "]a", True),
        ("^[a-z&&[b]]$", "&]", True),
        ("^x{,2}$", "x{,2}", True),
        ("(?P<n>a)z", "az", True),
        ("^*a", "a", True),
    ],
)
def test_patterns_mean_what_they_mean_in_go(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


PIECES = st.recursive(
    st.sampled_from(
        ["a", "b", "-", r"\.", ".", "[ab]", "[^a-]", r"[\d_]", r"\d", r"\W", "^", "$", "é", r"\[", r"\x62"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?"])).map(lambda p: f"(?:{p[0]}){p[1]}"),
    ),
    max_leaves=8,
)


@given(PIECES, st.text("ab-.1é[_\n", max_size=6))
def test_a_translated_pattern_matches_what_the_pattern_matches(pattern: str, text: str) -> None:
    reference = re.compile(re.sub(r"(?<![\\])\$", r"\\Z", pattern), re.ASCII)

    assert matches(pattern, text) is (reference.search(text) is not None)
