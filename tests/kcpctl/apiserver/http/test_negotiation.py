"""Which form of an answer a client gets, and with which words it is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http import negotiation
from kcpctl.apiserver.http.negotiation import Form

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def form(accept: str, query: str = "", *, watch: bool = False, agent: str = "") -> Form:
    return negotiation.form({"accept": accept, "user-agent": agent}, Query(query), watch=watch)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", Form()),
        ("*/*", Form()),
        ("application/*", Form()),
        ("application/yaml", Form("application/yaml")),
        ("application/xml, application/json;q=0.5", Form()),
        ("application/json;q=0.5, application/yaml", Form("application/yaml")),
        ("application/yaml;q=0, */*", Form()),
        ("application/vnd.kubernetes.protobuf,application/json", Form()),
        ("application/vnd.kubernetes.protobuf, */*", Form()),
        (f"{TABLE},application/json", Form(transform="Table")),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", Form(transform="Table", version="v1beta1")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Form()),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", Form(transform="PartialObjectMetadata")),
        ("application/json;pretty=1", Form(pretty=True)),
        ("*/*, application/yaml", Form("application/yaml")),
    ],
)
def test_the_first_clause_that_can_be_produced_wins(accept: str, expected: Form) -> None:
    assert form(accept) == expected


@pytest.mark.parametrize("accept", ["application/xml", "application/json;as=Bogus;v=v1;g=meta.k8s.io", "text/html"])
def test_what_cannot_be_produced_is_refused_with_the_known_types(accept: str) -> None:
    with pytest.raises(Failure) as caught:
        form(accept)

    assert caught.value.status.code == 406
    assert caught.value.status.message == (
        "only the following media types are accepted:"
        " application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )


def test_protobuf_alone_is_refused_without_offering_it() -> None:
    with pytest.raises(Failure, match=r"accepted: application/json, application/yaml$"):
        form("application/vnd.kubernetes.protobuf")


def test_watches_are_never_yaml() -> None:
    with pytest.raises(Failure, match=r"application/json;stream=watch, application/vnd\.kubernetes"):
        form("application/yaml", watch=True)
    assert form("application/json;stream=watch", watch=True) == Form()
    assert form(TABLE, watch=True) == Form(transform="Table")


def test_a_stream_form_is_not_for_single_answers() -> None:
    assert form("application/json;stream=watch, application/yaml") == Form("application/yaml")


@pytest.mark.parametrize(
    ("query", "agent", "pretty"),
    [
        ("", "curl/8.5", True),
        ("", "Mozilla/5.0 (X11)", True),
        ("", "kubectl/v1.37.1", False),
        ("pretty=true", "", True),
        ("pretty=1", "", True),
        ("pretty=false", "curl/8.5", False),
        ("pretty=yes", "curl/8.5", False),
    ],
)
def test_answers_are_indented_for_people(query: str, agent: str, pretty: bool) -> None:
    assert form("application/json", query, agent=agent).pretty is pretty


def test_built_ins_refuse_unknown_ranges_in_their_own_words() -> None:
    refused = negotiation.unknown_range("application/xml")

    assert refused is not None
    assert refused.status.message.startswith("406: Not Acceptable\n\nAvailable representations: application/json")
    assert negotiation.unknown_range("application/json;as=Bogus") is None
    assert negotiation.unknown_range("") is None


@given(st.text())
def test_no_accept_header_is_too_odd_to_be_answered(accept: str) -> None:
    try:
        form(accept)
    except Failure as failure:
        found = failure.status.code
    else:
        found = 200
    assert found in (200, 406)
