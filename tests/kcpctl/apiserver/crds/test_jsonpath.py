from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.crds.jsonpath import JsonPath, JsonPathError

OBJECT = {
    "metadata": {"name": "n", "annotations": {"a.b/c": "note"}},
    "spec": {"list": [{"v": 1, "n": "x"}, {"v": 2}, {"v": 3}], "flag": True},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Live", "status": "False"}]},
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".metadata.name", ["n"]),
        (".metadata.annotations['a.b/c']", ["note"]),
        (r".metadata.annotations.a\.b/c", ["note"]),
        (".spec.list[0].v", [1]),
        (".spec.list[-1].v", [3]),
        (".spec.list[5].v", []),
        (".spec.list[0:2].v", [1, 2]),
        (".spec.list[::2].v", [1, 3]),
        (".spec.list[*].v", [1, 2, 3]),
        (".spec.list[0,2].v", [1, 3]),
        (".spec['flag','list'][0].n", ["x"]),
        ("..v", [1, 2, 3]),
        (".spec.*", [OBJECT["spec"]["list"], True]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Live')].status", ["False"]),
        (".status.conditions[?(@.type!='Live')].type", ["Ready"]),
        (".spec.list[?(@.v>1)].v", [2, 3]),
        (".spec.list[?(@.n)].v", [1]),
        (".spec.nope.deeper", []),
        (".", [OBJECT]),
    ],
)
def test_a_path_leads_where_kubectl_says(path: str, expected: list[Any]) -> None:
    assert JsonPath(path).find(OBJECT) == expected


@pytest.mark.parametrize("path", [".a[", ".a[x]", ".a[?(@.b==)]", ".a[?(x)]", ".a b", ".a[1", ".a]"])
def test_a_path_that_cannot_be_read_says_where(path: str) -> None:
    with pytest.raises(JsonPathError, match="in JSONPath"):
        JsonPath(path)


@given(st.text(".[]*?@()='\"abc01:,<> \\", max_size=12))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        path = JsonPath(text)
    except JsonPathError:
        return

    path.find({"a": [{"b": 1, "c": [0, 1]}, {"b": "x"}], "b": {"a": {"c": True}}})


@given(st.text("ab.é/- ", min_size=1, max_size=8))
def test_any_name_can_be_quoted(name: str) -> None:
    assert JsonPath(f"['{name}']").find({name: 1}) == [1]


def test_descents_after_descents_go_on_from_each_place_once() -> None:
    chain: dict[str, Any] = {"b": 1}
    for _ in range(100):
        chain = {"a": chain}

    assert JsonPath("..a..a..a..a..a..a..b").find(chain) == [1]


@pytest.mark.parametrize(
    "path",
    [f".a[{'9' * 5000}]", f".a[{'9' * 5000}:]", f".a[?(@.b=={'9' * 5000})]", ".a" + "[?(@" * 2000],
)
def test_a_path_that_asks_for_too_much_cannot_be_read(path: str) -> None:
    with pytest.raises(JsonPathError):
        JsonPath(path)
