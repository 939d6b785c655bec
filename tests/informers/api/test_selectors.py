"""Selectors select what kube-apiserver selects, and say no in its words."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.selectors import EVERYTHING, NOTHING, FieldSelector, LabelSelector, SelectorError
from tests.golden import pairs

LABELS = {"app": "x", "tier": "a", "empty": ""}


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("", True),
        ("app", True),
        ("!app", False),
        ("!other", True),
        ("app=x", True),
        ("app==x", True),
        ("app = x , tier in (a,b)", True),
        ("app!=x", False),
        ("other!=x", True),
        ("tier in (a, b)", True),
        ("tier in (c)", False),
        ("tier notin (a)", False),
        ("other notin (a)", True),
        ("empty=", True),
        ("app=", False),
        ("empty in ()", True),
        ("empty in (,a)", True),
        ("example.com/other", False),
        ("in in (in)", False),
        ("app>3", False),
    ],
)
def test_a_label_selector_selects_as_kubernetes_does(text: str, chosen: bool) -> None:
    assert LabelSelector.parse(text).matches(LABELS) is chosen


def test_numbers_compare_as_integers() -> None:
    assert LabelSelector.parse("size>9").matches({"size": "10"})
    assert not LabelSelector.parse("size<9").matches({"size": "10"})
    assert not LabelSelector.parse("size>9").matches({"size": "big"})


@pytest.mark.parametrize(
    "text", ["a b", "=x", "a in (b", "a in b", "a,", "a,,b", "(", "a=b=c", "!a=b", "a in (=)", "a>b"]
)
def test_what_is_not_a_selector_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        LabelSelector.parse(text)


def test_refusals_are_in_the_words_of_the_real_server() -> None:
    seen = 0
    for pair in pairs("golden.jsonl"):
        query = parse_qs(urlsplit(pair["req"]["path"]).query)
        if not pair["id"].startswith("sel ") or "labelSelector" not in query:
            continue
        text = query["labelSelector"][0]
        if pair["resp"]["status"] == 200:
            LabelSelector.parse(text)
        else:
            with pytest.raises(SelectorError) as caught:
                LabelSelector.parse(text)
            assert str(caught.value) == pair["resp"]["body"]["message"]
        seen += 1
    assert seen > 10


words = st.from_regex(r"[a-z]([a-z0-9.-]{0,8}[a-z0-9])?", fullmatch=True)
requirements = st.one_of(
    words,
    words.map("!{}".format),
    st.tuples(words, st.sampled_from(["=", "==", "!="]), words).map("".join),
    st.tuples(words, st.sampled_from([" in ", " notin "]), st.lists(words, min_size=1).map(",".join)).map(
        lambda t: f"{t[0]}{t[1]}({t[2]})"
    ),
)


@given(st.lists(requirements).map(",".join), st.dictionaries(words, words))
def test_the_printed_form_selects_the_same(text: str, labels: dict[str, str]) -> None:
    selector = LabelSelector.parse(text)

    assert LabelSelector.parse(str(selector)).matches(labels) == selector.matches(labels)


@given(st.text(max_size=30))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        LabelSelector.parse(text)
        FieldSelector.parse(text)
    except SelectorError:
        pass


def test_the_api_form_of_nothing_selects_nothing_and_an_empty_one_everything() -> None:
    assert LabelSelector.from_api(None) == NOTHING
    assert not NOTHING.matches({})
    assert LabelSelector.from_api({}) == EVERYTHING
    assert EVERYTHING.matches(LABELS)


def test_the_api_form_combines_labels_and_expressions() -> None:
    selector = LabelSelector.from_api(
        {"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["b", "a"]}]}
    )

    assert str(selector) == "app=x,tier in (a,b)"
    assert selector.matches(LABELS)
    assert not selector.matches({"app": "x"})


def test_an_unknown_operator_is_named_as_kcp_names_it() -> None:
    with pytest.raises(SelectorError, match='"Foo" is not a valid label selector operator'):
        LabelSelector.from_api({"matchExpressions": [{"key": "a", "operator": "Foo"}]})


@pytest.mark.parametrize("values", [{}, {"values": []}, {"values": None}], ids=["missing", "none", "null"])
def test_an_in_without_values_is_refused_as_go_does(values: dict[str, Any]) -> None:
    with pytest.raises(SelectorError) as refused:
        LabelSelector.from_api({"matchExpressions": [{"key": "a", "operator": "In", **values}]})

    assert str(refused.value) == ("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty")


def test_field_selectors_undo_escapes() -> None:
    selector = FieldSelector.parse(r"spec.text=a\,b\=c\\d,metadata.name!=x")

    assert [(r.path, r.negated, r.value) for r in selector.requirements] == [
        ("spec.text", False, r"a,b=c\d"),
        ("metadata.name", True, "x"),
    ]
    assert FieldSelector.parse(str(selector)) == selector


def test_field_selectors_know_no_sets() -> None:
    with pytest.raises(SelectorError, match=r"invalid selector: 'a in \(b\)'; can't understand 'a in \(b\)'"):
        FieldSelector.parse("a in (b)")
