"""Namespaces that go away."""

from collections.abc import AsyncIterator

import pytest

from informers.tasks import background
from kcpctl.apiserver.admission import AdmissionRequest
from kcpctl.apiserver.builtin import CONFIG_MAPS, LEASES, NAMESPACES
from kcpctl.apiserver.builtin.bootstrap import ensure_namespace
from kcpctl.apiserver.builtin.emptying import NamespaceEmptier
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import bad_request
from tests.kcpctl.apiserver.kinds import WIDGETS
from tests.kcpctl.apiserver.writing.hands import Hand, config_map, hand, namespace, widget


@pytest.fixture
async def ann() -> AsyncIterator[Hand]:
    """Return somebody who writes where namespaces are emptied."""
    made = await hand()
    emptier = NamespaceEmptier(made.world)
    await emptier.load()
    async with background(emptier.run()):
        await made.create(namespace("n1"), NAMESPACES)
        await made.clock.run_until_idle()
        yield made


async def test_a_namespace_goes_with_everything_in_it(ann: Hand) -> None:
    await ann.create(config_map(), namespace="n1")
    await ann.create(widget(), WIDGETS, namespace="n1")
    await ann.create(config_map(), namespace="default")

    await ann.delete("n1", NAMESPACES)
    await ann.clock.run_until_idle()

    assert await ann.get("n1", NAMESPACES) is None
    assert await ann.get("c1", namespace="n1") is None
    assert await ann.get("w1", WIDGETS, namespace="n1") is None
    assert await ann.get("c1", namespace="default")


async def test_what_finalizers_hold_is_named_and_waited_for(ann: Hand) -> None:
    held = {"finalizers": ["ex.com/hold"]}
    await ann.create(config_map(metadata=held), namespace="n1")
    await ann.create({"metadata": {"name": "l1", **held}}, LEASES, namespace="n1")

    await ann.delete("n1", NAMESPACES)
    await ann.clock.run_until_idle()
    stuck = await ann.get("n1", NAMESPACES)
    revision = ann.storage.revision
    await ann.clock.advance(3600)

    assert stuck is not None
    told = {c["type"]: (c["status"], c["reason"], c["message"]) for c in stuck["status"]["conditions"]}
    listed = ", ".join(f"{kind} has 1 resource instances" for kind in ("configmaps.", "leases.coordination.k8s.io"))
    assert told["NamespaceContentRemaining"] == (
        "True",
        "SomeResourcesRemain",
        f"Some resources are remaining: {listed}",
    )
    assert told["NamespaceFinalizersRemaining"] == (
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: ex.com/hold in 2 resource instances",
    )
    assert told["NamespaceDeletionContentFailure"][0] == "False"
    assert ann.storage.revision == revision
    for name, kind in (("c1", CONFIG_MAPS), ("l1", LEASES)):
        await ann.patch({"metadata": {"finalizers": None}}, kind, name=name, namespace="n1")
    await ann.clock.run_until_idle()
    assert await ann.get("n1", NAMESPACES) is None


async def test_finalizers_of_the_namespace_itself_hold_it_when_it_is_empty(ann: Hand) -> None:
    await ann.patch({"metadata": {"finalizers": ["ex.com/hold"]}}, NAMESPACES, name="n1")

    await ann.delete("n1", NAMESPACES)
    await ann.clock.run_until_idle()
    empty = await ann.get("n1", NAMESPACES)
    await ann.patch({"metadata": {"finalizers": None}}, NAMESPACES, name="n1")

    assert empty is not None
    assert empty["spec"] == {}
    assert await ann.get("n1", NAMESPACES) is None


async def test_a_server_that_starts_goes_on_where_the_last_one_stopped() -> None:
    ann = await hand()
    await ann.create(namespace("n1"), NAMESPACES)
    await ann.create(config_map(), namespace="n1")
    await ann.delete("n1", NAMESPACES)

    emptier = NamespaceEmptier(ann.world)
    await emptier.load()
    async with background(emptier.run()):
        await emptier.wait_at_rest()

    assert await ann.get("n1", NAMESPACES) is None


async def test_a_namespace_that_cannot_be_emptied_holds_up_no_other() -> None:
    stuck = True

    async def rule(request: AdmissionRequest) -> None:
        if stuck and request.verb == "delete" and request.context.namespace == "n1":
            raise bad_request("not yet")

    ann = await hand(rules=[rule])
    emptier = NamespaceEmptier(ann.world)
    await emptier.load()
    async with background(emptier.run()):
        for name in ("n1", "n2"):
            await ann.create(namespace(name), NAMESPACES)
            await ann.create(config_map(), namespace=name)
            await ann.delete(name, NAMESPACES)
        await ann.clock.run_until_idle()

        assert await ann.get("n2", NAMESPACES) is None
        assert await ann.get("n1", NAMESPACES) is not None
        assert emptier.trouble == "not yet"

        stuck = False
        await ann.clock.advance(5)
        assert await ann.get("n1", NAMESPACES) is None
        assert emptier.trouble == ""


async def test_every_cluster_begins_with_a_default_namespace_of_its_own() -> None:
    ann = Hand(scope=Scope("root"))

    await ensure_namespace(ann.world, "root", "default")
    await ensure_namespace(ann.world, "root", "default")
    await ensure_namespace(ann.world, "other", "default")

    first = await ann.get("default", NAMESPACES)
    ann.scope = Scope("other")
    second = await ann.get("default", NAMESPACES)
    assert first is not None
    assert second is not None
    assert first["metadata"]["annotations"] == {"kcp.io/cluster": "root"}
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
