"""Pages: tokens, what remains, and what happens when the first page's revision is gone."""

import base64
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.reading import tokens
from tests.kcpctl.apiserver.kinds import PLANETS
from tests.kcpctl.apiserver.reading.conftest import FIRST, Asking


def token(**content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


@pytest.fixture
async def full(asking: Asking) -> Asking:
    for number in range(7):
        await asking.put(f"l{number}", labels={"par": "odd" if number % 2 else "even"})
    return asking


async def pages(asking: Asking, **asked: Any) -> list[Any]:
    found = [await asking.list(**asked)]
    while found[-1].continue_:
        found.append(await asking.list(**asked, continue_=found[-1].continue_))
    return found


async def test_pages_show_the_first_pages_revision_whatever_happens_between_them(full: Asking):
    first = await full.list(limit=3)
    await full.remove("l3")
    await full.put("l9")

    second = await full.list(limit=3, continue_=first.continue_)
    third = await full.list(limit=3, continue_=second.continue_)

    assert [p.names for p in (first, second, third)] == [["l0", "l1", "l2"], ["l3", "l4", "l5"], ["l6"]]
    assert [p.remaining for p in (first, second, third)] == [4, 1, None]
    assert {p.revision for p in (first, second, third)} == {FIRST + 7}
    assert third.continue_ == ""


async def test_a_token_reads_like_kube_apiservers(full: Asking):
    found = await full.list(limit=3)

    text = base64.urlsafe_b64decode(found.continue_ + "=" * (-len(found.continue_) % 4))
    assert text == b'{"v":"meta.k8s.io/v1","rv":1007,"start":"/l2\\u0000"}'


async def test_a_token_of_kube_apiserver_is_understood():
    recorded = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjQ3LCJzdGFydCI6Ii9mbTFcdTAwMDAifQ"

    assert tokens.decode(recorded, "/registry/core/configmaps/_/g1/") == (
        "/registry/core/configmaps/_/g1/fm1\0",
        247,
    )


async def test_a_page_with_a_selector_is_filled_and_says_nothing_of_what_remains(full: Asking):
    found = await pages(full, limit=2, labelSelector="par=even")

    assert [p.names for p in found] == [["l0", "l2"], ["l4", "l6"]]
    assert {p.remaining for p in found} == {None}


async def test_pages_span_clusters(asking: Asking):
    for cluster in ("one", "two"):
        for name in ("a", "b"):
            await asking.put(name, served=PLANETS, scope=Scope(cluster))

    found = await pages(asking, served=PLANETS, scope=Scope("*"), limit=3)

    assert [(p.names, p.remaining) for p in found] == [(["a", "b", "a"], 1), (["b"], None)]


async def test_without_a_limit_the_rest_comes_at_once(full: Asking):
    first = await full.list(limit=3)

    assert (await full.list(continue_=first.continue_)).names == ["l3", "l4", "l5", "l6"]


async def test_with_any_revision_the_token_counts_and_the_limit_does_not(full: Asking):
    first = await full.list(limit=3)

    found = await full.list(continue_=first.continue_, limit=2, resourceVersion=0)

    assert (found.names, found.continue_) == (["l3", "l4", "l5", "l6"], "")


async def test_a_token_beside_a_revision_is_refused(full: Asking):
    first = await full.list(limit=3)

    with pytest.raises(Failure) as caught:
        await full.list(limit=3, continue_=first.continue_, resourceVersion=1)

    assert caught.value.status.message == "specifying resource version is not allowed when using continue"
    assert caught.value.status.code == 400


async def test_an_expired_token_is_a_410_with_a_token_that_goes_on_inconsistently(full: Asking):
    first = await full.list(limit=3)
    await full.remove("l4")
    await full.put("l9")
    await full.store.compact(full.store.revision)

    with pytest.raises(Failure) as caught:
        await full.list(limit=3, continue_=first.continue_)

    status = caught.value.status
    assert (status.code, status.reason) == (410, "Expired")
    assert status.message == (
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
        "modified, or deleted between the time the first chunk was returned and now may show up in the list."
    )
    rest = await full.list(limit=3, continue_=status.metadata.continue_)
    assert rest.names == ["l3", "l5", "l6"]
    assert rest.revision == full.store.revision
    assert (await full.list(continue_=rest.continue_)).names == ["l9"]


NOT_VALID = "invalid continue token: continue key is not valid"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bogus", f"{NOT_VALID}: illegal base64 data at input byte 4"),
        ("bo!us", f"{NOT_VALID}: illegal base64 data at input byte 2"),
        ("bogus===", f"{NOT_VALID}: illegal base64 data at input byte 5"),
        (token(v="v9", rv=5, start="/a"), f"{NOT_VALID}: server does not recognize this encoded version v9"),
        (token(), f"{NOT_VALID}: server does not recognize this encoded version "),
        (
            token(v="meta.k8s.io/v1", start="/a"),
            f"{NOT_VALID}: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        (token(v="meta.k8s.io/v1", rv=5), f"{NOT_VALID}: encoded start key empty (version meta.k8s.io/v1)"),
        (token(v="meta.k8s.io/v1", rv=5, start="/../../secrets/a"), f"{NOT_VALID}: /../../secrets/a"),
        (token(v="meta.k8s.io/v1", rv=5, start="//a"), f"{NOT_VALID}: //a"),
    ],
)
async def test_a_token_that_is_none_is_a_400_that_says_why(full: Asking, text: str, message: str):
    with pytest.raises(Failure) as caught:
        await full.list(limit=3, continue_=text)

    assert (caught.value.status.code, caught.value.status.message) == (400, message)


@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda b: base64.urlsafe_b64encode(b).decode().rstrip("=")))
def test_no_token_does_anything_but_point_into_its_collection_or_fail_cleanly(text: str):
    prefix = "/registry/core/configmaps/root/"
    with contextlib.suppress(Failure):
        start, _ = tokens.decode(text, prefix)
        assert start.startswith(prefix)
