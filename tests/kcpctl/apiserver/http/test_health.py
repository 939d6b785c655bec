"""The health paths."""

import pytest

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http.health import Health


def well() -> str:
    return ""


def ill() -> str:
    return "the disk is full"


def test_a_well_server_says_ok() -> None:
    answer = Health()(("livez",), Query())

    assert (answer.status, answer.body) == (200, b"ok")
    assert ("Content-Type", "text/plain; charset=utf-8") in answer.headers
    assert ("X-Content-Type-Options", "nosniff") in answer.headers


def test_readiness_checks_more_than_liveness() -> None:
    health = Health(live={"storage": well}, ready={"shutdown": ill})

    assert health(("livez",), Query()).status == 200
    assert health(("readyz",), Query()).status == 500
    assert health(("readyz", "shutdown"), Query()).status == 500
    assert health(("readyz", "storage"), Query()).body == b"ok"


def test_verbose_lists_the_checks() -> None:
    answer = Health(live={"storage": well})(("livez",), Query("verbose"))

    assert answer.body == b"[+]ping ok\n[+]storage ok\nlivez check passed\n"


def test_a_failure_is_listed_without_its_reason() -> None:
    answer = Health(ready={"informers/root": ill})(("readyz",), Query())

    assert answer.status == 500
    assert answer.body == b"[+]ping ok\n[-]informers/root failed: reason withheld\nreadyz check failed\n"


def test_checks_can_be_excluded() -> None:
    answer = Health(ready={"a": ill, "b/c": ill})(("readyz",), Query("exclude=a&exclude=b/c&exclude=nope&verbose"))

    assert answer.status == 200
    assert answer.body == (
        b"[+]ping ok\n[+]a excluded: ok\n[+]b/c excluded: ok\n"
        b'warn: some health checks cannot be excluded: no matches for "nope"\nreadyz check passed\n'
    )


def test_an_unknown_check_is_not_found() -> None:
    with pytest.raises(Failure) as caught:
        Health()(("livez", "nope"), Query())

    assert caught.value.text == "404 page not found\n"
