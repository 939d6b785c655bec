"""A whole state is the same however it is cut, and whatever is wrong with some of its objects."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from hypothesis import given
from hypothesis import strategies as st

from informers.api.decoding import Page, WatchEvent
from informers.api.objects import Key, Object
from informers.cache.filling import Filling
from informers.cache.indexers import Indexer, by_label, by_namespace, by_path
from informers.cache.slices import Slices
from informers.cache.store import Store
from tests.informers.cache.making import key, widget

T = TypeVar("T")

Step: TypeAlias = tuple[str, str, Any]
"""What is told of an object: the type of the event, the name, and a size, which cannot be indexed if it is a number."""


def by_size(obj: Object[Any]) -> tuple[str, ...]:
    """Index by a size; raises for one that is no text."""
    return (obj.at("spec", "size") + "",)


INDEXERS: Mapping[str, Indexer[Any]] = {
    "size": by_size,
    "path": by_path("spec", "size"),
    "app": by_label("app"),
    "namespace": by_namespace,
}
FIRST_RV = 100


def made(name: str, rv: int, size: Any) -> Object[Any]:
    return widget(name, rv=rv, spec={"size": size}, labels={"app": str(size)})


def filled(before: Mapping[str, int]) -> tuple[Store[Any], Filling[Any]]:
    """Return a store that holds these, by name and revision, and what fills its next content."""
    store: Store[Any] = Store(INDEXERS)
    for name, rv in before.items():
        store.put(made(name, rv, "x"))
    return store, Filling(store.prepare(unbroken=True), Slices(0))


def told(before: Mapping[str, int], steps: list[Step]) -> tuple[dict[Key, str], set[Key]]:
    """Return which revisions there are in the end, and what is set aside: the model."""
    there: dict[Key, str] = {}
    errors: set[Key] = set()
    heard: set[Key] = set()
    for rv, (kind, name, size) in enumerate(steps, FIRST_RV):
        where = key(name)
        if kind == "DELETED":
            there.pop(where, None)
            errors.discard(where)
        elif isinstance(size, str):
            there[where] = str(rv)
            errors.discard(where)
        else:
            errors.add(where)
            if where not in heard and name in before:
                there[where] = str(before[name])
        if isinstance(size, str) or kind == "DELETED" or where in there:
            heard.add(where)
    return there, errors


def found(store: Store[Any], filling: Filling[Any]) -> tuple[dict[Key, str], set[Key]]:
    """Return the same of what was filled in, once every index agrees with it."""
    for _ in store.swap(filling.replacement, "1000"):
        pass
    for obj in store:
        [size] = by_path("spec", "size")(obj)
        for index, value in {"size": size, "path": size, "app": size, "namespace": ""}.items():
            assert [one for one in store.by_index(index, value) if one.key == obj.key] == [obj]
    sizes = len({by_size(obj) for obj in store})
    assert store.index_sizes() == {"size": sizes, "path": sizes, "app": sizes, "namespace": bool(sizes)}
    assert store.bytes == sum(len(obj.raw) for obj in store)
    return {obj.key: obj.rv for obj in store}, set(filling.errors)


def pieces(sizes: list[int], whole: list[T]) -> Iterator[list[T]]:
    """Cut a list into pieces of these sizes, and what is left over."""
    start = 0
    for size in sizes:
        yield whole[start : start + size]
        start += size
    yield whole[start:]


names = st.sampled_from("abcd")
sizes = st.sampled_from(["x", "x", "y", 5])
kinds = st.sampled_from(["ADDED", "ADDED", "ADDED", "MODIFIED", "DELETED"])
olds = st.dictionaries(names, st.integers(1, 9))
cuts = st.lists(st.integers(0, 6))


@given(olds, st.lists(st.tuples(kinds, names, sizes), max_size=20), cuts)
async def test_a_stream_tells_the_same_however_its_events_come_together(
    before: dict[str, int], steps: list[Step], cut: list[int]
) -> None:
    store, filling = filled(before)
    events = [WatchEvent(kind, made(name, rv, size), str(rv)) for rv, (kind, name, size) in enumerate(steps, FIRST_RV)]

    for batch in pieces(cut, events):
        assert await filling.take_events(batch) is None

    assert filling.events == len(events)
    assert found(store, filling) == told(before, steps)


@given(olds, st.lists(st.tuples(st.just("ADDED"), names, sizes), max_size=20), cuts)
async def test_a_list_shows_the_same_however_it_is_paged(
    before: dict[str, int], steps: list[Step], cut: list[int]
) -> None:
    store, filling = filled(before)
    objects = [made(name, rv, size) for rv, (_, name, size) in enumerate(steps, FIRST_RV)]

    for page in pieces(cut, objects):
        await filling.take(Page(page))

    assert found(store, filling) == told(before, steps)


async def test_what_a_stream_tells_again_after_its_deletion_does_not_come_back() -> None:
    store, filling = filled({})

    for kind, rv in (("ADDED", 6), ("DELETED", 7), ("ADDED", 6)):
        await filling.take_events([WatchEvent(kind, made("a", rv, "x"), str(rv))])

    assert found(store, filling) == ({}, set())
