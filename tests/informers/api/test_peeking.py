import json

from hypothesis import given
from hypothesis import strategies as st

from informers.api.decoding import Reader
from informers.api.resources import Resource
from informers.cache.index import IndexerFailed
from informers.cache.indexers import by_path
from informers.cache.store import Store

TEAMS = Resource("example.com", "v1", "teams")
PATHS = [("spec", "a"), ("spec", "b", "c"), ("spec", "b", "d"), ("status", "phase"), ("metadata", "uid"), ("spec", "b")]
SCALARS = st.sampled_from(["x", "1", "true", 1, True, False, None, 1.5])
LEAVES = SCALARS | st.lists(SCALARS.filter(lambda v: v is not None), max_size=2)
ODD = LEAVES | st.just({"deep": 1})
B = st.fixed_dictionaries({}, optional={"c": ODD, "d": LEAVES}) | ODD
SPECS = st.fixed_dictionaries({}, optional={"a": ODD, "b": B}) | st.sampled_from([None, 3, "text", []])
BODIES = st.fixed_dictionaries(
    {"spec": SPECS}, optional={"status": st.fixed_dictionaries({"phase": LEAVES}) | st.just("odd")}
)


def rendered(number: int, name: str, body: dict) -> bytes:
    return json.dumps({"metadata": {"name": name, "uid": "u", "resourceVersion": str(number)}, **body}).encode()


def asked(store: Store, path: tuple[str, ...]) -> dict[str, set[str]]:
    """Return what the index says of every value that any object could be found under."""
    values = ["x", "1", "true", "false", "1.5", "u", "deep"]
    return {value: {obj.name for obj in store.by_index(".".join(path), value)} for value in values}


@given(st.lists(st.tuples(st.sampled_from("abc"), BODIES, st.booleans()), max_size=12), st.sets(st.sampled_from(PATHS)))
def test_indexes_are_the_same_whether_readers_peek_or_not(changes, peeked):
    """Objects read before a path was known, with other paths, or with none, may be in one store."""
    plain, eager = Reader(TEAMS), Reader(TEAMS)
    stores = [Store({".".join(path): by_path(*path) for path in PATHS}) for _ in range(2)]
    for number, (name, body, peek) in enumerate(changes):
        eager.peek_at(peeked if peek else [])
        raw = rendered(number, name, body)
        outcomes = []
        for store, reader in zip(stores, (plain, eager), strict=True):
            try:
                store.put(reader.object(raw))
                outcomes.append("stored")
            except IndexerFailed as failure:
                outcomes.append(str(failure))
        assert outcomes[0] == outcomes[1]

    for path in PATHS:
        assert asked(stores[0], path) == asked(stores[1], path)


def test_objects_that_have_the_same_there_share_what_was_found():
    reader = Reader(TEAMS)
    reader.peek_at([("spec", "a")])

    one, other, third = (reader.object(rendered(n, f"t{n}", {"spec": {"a": a}})) for n, a in enumerate(["x", "x", "y"]))

    assert one.peek is other.peek
    assert one.peek is not None
    assert one.peek.found == (("x",),)
    assert third.peek is not one.peek
