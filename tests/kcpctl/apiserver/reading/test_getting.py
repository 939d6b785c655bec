"""Get: one object, and what a resourceVersion means there."""

import asyncio

import pytest

from informers.tasks import background
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.reading import get
from tests.kcpctl.apiserver.kinds import PLANETS
from tests.kcpctl.apiserver.reading.conftest import FIRST, Asking


async def test_an_object_comes_with_its_revision_its_type_and_its_cluster(asking: Asking):
    await asking.put("a", data={"x": "1"})

    assert await asking.get("a") == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "resourceVersion": str(FIRST + 1), "annotations": {"kcp.io/cluster": "root"}},
        "data": {"x": "1"},
    }


@pytest.mark.parametrize("scope", [Scope("other"), Scope("*")])
async def test_an_object_is_there_only_in_its_own_cluster(asking: Asking, scope: Scope):
    await asking.put("mars", served=PLANETS)

    with pytest.raises(Failure) as caught:
        await asking.get("mars", served=PLANETS, scope=scope)

    assert caught.value.status.message == 'planets.example.com "mars" not found'


@pytest.mark.parametrize("revision", ["", "0", "1", str(FIRST + 1)])
async def test_an_old_revision_gives_the_newest_object(asking: Asking, revision: str):
    await asking.put("a")

    assert (await asking.get("a", resourceVersion=revision))["metadata"]["resourceVersion"] == str(FIRST + 1)


async def test_a_revision_that_comes_in_time_is_waited_for(asking: Asking):
    await asking.put("a")
    call = asking.call("get", name="a", resourceVersion=FIRST + 2)
    async with background(get(asking.world, call)) as [reading]:
        await asking.clock.advance(2.9)
        assert not reading.done()

        await asking.put("b")

        assert b'"name":"a"' in await reading


async def test_a_revision_that_does_not_come_is_a_504_after_three_seconds(asking: Asking):
    await asking.put("a")

    with pytest.raises(Failure) as caught:
        await asking.get("a", resourceVersion=99_999_999)

    assert asking.clock.monotonic() == 3.0
    status = caught.value.status
    assert (status.code, status.reason) == (504, "Timeout")
    assert status.message == f"Timeout: Too large resource version: 99999999, current: {FIRST + 1}"
    assert status.details is not None
    assert status.details.retry_after_seconds == 1
    assert [(c.reason, c.message) for c in status.details.causes] == [
        ("ResourceVersionTooLarge", "Too large resource version")
    ]


async def test_a_client_that_leaves_while_waiting_leaves_nothing_behind(asking: Asking):
    async with background(get(asking.world, asking.call("get", name="a", resourceVersion=FIRST + 9))):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("abc", "invalid syntax"),
        ("-1", "invalid syntax"),
        ("1_0", "invalid syntax"),
        ("١", "invalid syntax"),
        ("18446744073709551616", "value out of range"),
        ("9" * 5000, "value out of range"),
    ],
)
async def test_what_is_no_revision_is_a_500_without_a_reason(asking: Asking, text: str, why: str):
    with pytest.raises(Failure) as caught:
        await asking.get("a", resourceVersion=text)

    status = caught.value.status
    assert (status.code, status.reason, status.details) == (500, "", None)
    assert status.message == f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {why}'
