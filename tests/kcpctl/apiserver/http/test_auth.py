"""Who asks, and what each may do before RBAC is built."""

import pytest

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import ANONYMOUS, Incoming, User
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http.auth import Authentication, authorize, refuse_impersonation, user_of_subject
from kcpctl.apiserver.routing import parse

BOB = User("bob", groups=("dev",))
ROOT = User("root", groups=("system:masters",))
authenticate = Authentication({"sesame": BOB})


def with_header(value: str, peer: User | None = None) -> Incoming:
    return Incoming("GET", "/", headers={"authorization": value} if value else {}, peer=peer)


def refusal(user: User, method: str, path: str, query: str = "") -> Failure:
    with pytest.raises(Failure) as caught:
        authorize(user, parse(method, path, Query(query)), Query(query))
    return caught.value


def test_a_known_token_is_its_user_and_authenticated() -> None:
    assert authenticate(with_header("Bearer sesame")) == User("bob", groups=("dev", "system:authenticated"))


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic Ym9iOngK"])
def test_who_brings_no_token_is_anonymous_unless_that_is_off(header: str) -> None:
    assert authenticate(with_header(header)) == ANONYMOUS
    with pytest.raises(Failure):
        Authentication(anonymous=False)(with_header(header))


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer sesame2", "Bearer \udce4"])
def test_wrong_credentials_are_refused_even_where_anybody_may_come_in(header: str) -> None:
    with pytest.raises(Failure) as caught:
        authenticate(with_header(header))

    assert (caught.value.status.code, caught.value.status.message) == (401, "Unauthorized")


@pytest.mark.parametrize("header", ["impersonate-user", "impersonate-group", "impersonate-uid"])
def test_nobody_who_asks_in_anothers_name_is_answered_in_their_own(header: str) -> None:
    with pytest.raises(Failure) as caught:
        refuse_impersonation(Incoming("GET", "/", headers={header: "bob"}))

    assert caught.value.status.code == 501
    assert "--as" in caught.value.status.message


def test_what_the_connection_proves_comes_before_tokens() -> None:
    assert authenticate(with_header("Bearer wrong", peer=ROOT)).name == "root"


def test_a_certificate_names_a_user_and_groups() -> None:
    subject = ((("organizationName", "a"),), (("organizationName", "b"),), (("commonName", "ann"),))

    assert user_of_subject(subject) == User("ann", groups=("a", "b"))
    assert user_of_subject(((("organizationName", "a"),),)) is None


def test_masters_may_do_everything_and_everybody_may_ask_for_health() -> None:
    authorize(ROOT, parse("DELETE", "/api/v1/namespaces/x", Query()), Query())
    for path in ("/version", "/healthz", "/livez/ping", "/readyz"):
        authorize(ANONYMOUS, parse("GET", path, Query()), Query())


REFUSALS = {
    ("GET", "/api/v1/namespaces/default/configmaps", ""): (
        'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group ""'
        ' in the namespace "default"'
    ),
    ("GET", "/api/v1/configmaps", "fieldSelector=metadata.name%3Dx"): (
        'configmaps "x" is forbidden: User "bob" cannot list resource "configmaps" in API group "" at the cluster scope'
    ),
    ("GET", "/apis/apps/v1/namespaces/default/deployments/d/scale", ""): (
        'deployments.apps "d" is forbidden: User "bob" cannot get resource "deployments/scale"'
        ' in API group "apps" in the namespace "default"'
    ),
    ("GET", "/metrics", ""): 'forbidden: User "bob" cannot get path "/metrics"',
    ("POST", "/version", ""): 'forbidden: User "bob" cannot post path "/version"',
}


@pytest.mark.parametrize(("request_line", "message"), REFUSALS.items())
def test_a_refusal_says_who_may_not_do_what(request_line: tuple[str, str, str], message: str) -> None:
    refused = refusal(BOB, *request_line)

    assert (refused.status.code, refused.status.reason) == (403, "Forbidden")
    assert refused.status.message == message


def test_a_user_name_cannot_smuggle_markup_into_a_refusal() -> None:
    assert "<b>" not in refusal(User("<b>"), "GET", "/metrics").status.message
