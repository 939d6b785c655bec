"""What an informer goes through at a real server; the same for ours and for kube-apiserver's own code."""

from informers import Evidence
from informers.cache.policy import Policy
from informers.client.transport import Request
from tests.faults import Gate
from tests.integration.watched import PAGED, STREAMED, WIDGETS, Subject, make, watched

MANY = tuple(f"w{number:04}" for number in range(1200))
FEW = ("a", "b", "c")


async def large_collection(subject: Subject, policy: Policy, *, first: int, again: int) -> None:
    """1,200 objects come in so many pages (0 for a stream), and so again when the newest state is asked for."""
    await make(subject.client, *MANY)

    async with watched(subject, policy) as found:
        await make(subject.client, "later")
        found.informer.force_relist()
        await found.until(lambda: len(found.lists) == 2 and found.informer.live)

        assert [(listed.pages, listed.objects) for listed in found.lists] == [(first, 1200), (again, 1201)]
        assert found.names == {*MANY, "later"}
        await subject.client.delete(WIDGETS, MANY[0], namespace="default")
        await found.equals_the_server()
        assert found.gone == [(MANY[0], Evidence.DELETED_EVENT)]


async def expired_page(subject: Subject) -> None:
    """Pages whose revision is forgotten before the last one came are given up for one whole list."""
    await make(subject.client, *MANY)
    async with watched(subject, PAGED) as found:
        second = subject.network.hold_next(is_later_page)
        found.informer.force_relist()
        await subject.wait(reached(second))
        await subject.client.delete(WIDGETS, MANY[0], namespace="default")
        await subject.forget_history()
        second.open()
        await found.until(lambda: len(found.lists) == 2 and found.informer.live)

        assert [listed.pages for listed in found.lists[1:]] == [1]
        await found.equals_the_server()


async def broken_watch(subject: Subject, policy: Policy = STREAMED) -> None:
    """After a cut the watch goes on where it was: nothing is listed again, and every change is told as what it was."""
    await make(subject.client, *FEW)
    async with watched(subject, policy) as found:
        await make(subject.client, "d")  # a watch that has brought something is worth to be resumed at once
        await found.equals_the_server()

        await subject.network.cut()
        await change(subject)
        await found.equals_the_server()

        assert found.gone == [("b", Evidence.DELETED_EVENT)]
        assert len(found.lists) == 1


async def torn_watch(subject: Subject) -> None:
    """Half a line is no event: the watch is resumed behind the last whole one."""
    await make(subject.client, *FEW)
    async with watched(subject) as found:
        await make(subject.client, "d")
        await found.equals_the_server()

        subject.network.tear()
        await change(subject)
        await found.equals_the_server()

        assert found.gone == [("b", Evidence.DELETED_EVENT)]


async def forgotten_history(subject: Subject, policy: Policy, evidence: Evidence) -> None:
    """Whoever was away for longer than history lasts lists again; what is not listed any more was not seen to go.

    `evidence` is what that counts for: a server that says which store it shows lets us know that it was deleted.
    """
    await make(subject.client, *FEW)
    async with watched(subject, policy) as found:
        await subject.network.go_away()
        await change(subject)
        await subject.forget_history()
        subject.network.come_back()
        await found.equals_the_server()

        assert found.gone == [("b", evidence)]
        assert len(found.lists) == 2


async def change(subject: Subject) -> None:
    """Add an object, change another, and delete a third."""
    await make(subject.client, "new")
    await subject.client.patch(WIDGETS, "a", {"metadata": {"labels": {"changed": "yes"}}}, namespace="default")
    await subject.client.delete(WIDGETS, "b", namespace="default")


def is_later_page(request: Request) -> bool:
    return "continue=" in request.target


async def reached(gate: Gate) -> None:
    await gate.reached.wait()
