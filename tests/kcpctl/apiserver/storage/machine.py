"""Any history of writes, reads of any moment of it, and watches from anywhere: what every engine must get right."""

import asyncio
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from kcpctl.apiserver.storage.base import Change, Compacted, FutureRevision, KeyExists, Mismatch, Storage
from kcpctl.apiserver.storage.history import Window
from tests.kcpctl.apiserver.storage.model import Model

KEYS = [f"/registry/{r}/{c}/{n}" for r in ("g/pods", "g/pods-x") for c in ("a", "a-b") for n in ("x", "x.y", "x/y")]
PREFIXES = ["", "/registry/g/pods/", "/registry/g/pods/a/", "/registry/g/pods-x/a-b/x", "/registry/g/pods", "/none/"]
WINDOW = Window(changes=12)
keys, prefixes = st.sampled_from(KEYS), st.sampled_from(PREFIXES)
texts = st.text(max_size=3).map(str.encode)


class Watched:
    """One feed, and what it must still bring."""

    def __init__(self, feed: Any, expected: list[Change]) -> None:
        self.feed = feed
        self.expected = expected


class EngineAgainstModel(RuleBasedStateMachine):
    """Subclasses say how the engine is opened."""

    feeds: Bundle[Any] = Bundle("feeds")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.store: Any = self.run(self.open())
        self.first = self.store.revision
        self.model = Model(self.first)
        self.watched: list[tuple[str, Watched]] = []

    async def open(self) -> Storage:
        raise NotImplementedError

    def run(self, job: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(job, 5))

    def wrote(self, key: str, value: bytes | None, revision: int) -> None:
        assert revision == self.model.write(key, value)
        for prefix, watched in self.watched:
            if key.startswith(prefix):
                watched.expected.append(self.model.changes[-1])

    @rule(key=keys, value=texts)
    def create(self, key: str, value: bytes) -> None:
        if key in self.model.now:
            with pytest.raises(KeyExists):
                self.run(self.store.create(key, value))
        else:
            self.wrote(key, value, self.run(self.store.create(key, value)))

    @rule(key=keys, value=st.none() | texts, behind=st.sampled_from([0, 0, 0, 1]))
    def update_or_delete(self, key: str, value: bytes | None, behind: int) -> None:
        current = self.model.now.get(key)
        expect = (current.revision if current else self.model.revision) - behind
        job = self.store.delete(key, expect=expect) if value is None else self.store.update(key, value, expect=expect)
        if current is None or behind:
            with pytest.raises(Mismatch) as caught:
                self.run(job)
            assert caught.value.current == current
        else:
            self.wrote(key, value, self.run(job))

    @rule(prefix=prefixes, start=st.just("") | keys, limit=st.integers(0, 4), back=st.integers(-1, 15))
    def range(self, prefix: str, start: str, limit: int, back: int) -> None:
        revision = self.model.revision - back
        job = self.store.range(prefix, start=start, limit=limit, revision=revision)
        if revision < self.store.oldest:
            with pytest.raises(Compacted):
                self.run(job)
        elif back < 0:
            with pytest.raises(FutureRevision):
                self.run(job)
        else:
            found = self.run(job)
            expected = [r for r in self.model.under(prefix, revision) if r.key >= start]
            assert list(found.records) == (expected[:limit] if limit else expected)
            assert (found.revision, found.remaining) == (revision, len(expected) - len(found.records))

    @rule(back=st.integers(0, 15))
    def compact(self, back: int) -> None:
        before = self.store.oldest
        self.run(self.store.compact(self.model.revision - back))
        assert self.store.oldest == max(before, self.model.revision - back)

    @rule(target=feeds, prefix=prefixes, back=st.integers(-2, 15))
    def watch(self, prefix: str, back: int) -> Watched:
        revision = self.model.revision - back
        watched = Watched(self.store.watch(prefix, revision), self.model.after(prefix, revision))
        if revision < max(self.store.oldest, self.first):
            with pytest.raises(Compacted):
                self.run(anext(watched.feed))
            self.run(watched.feed.aclose())
        else:
            self.watched.append((prefix, watched))
            first = self.run(anext(watched.feed))
            assert first.revision == self.model.revision
            assert list(first.changes) == watched.expected
            watched.expected.clear()
            if back < 0:
                self.skip(watched, -back)
        return watched

    def skip(self, watched: Watched, count: int) -> None:
        """Writes up to the future revision that the watch started from are not for it."""
        for _ in range(count):
            key = f"/registry/g/pods/a/skipped-{self.model.revision}"
            self.wrote(key, b"", self.run(self.store.create(key, b"")))
        watched.expected.clear()

    @rule(watched=feeds)
    def read_feed(self, watched: Watched) -> None:
        if all(watched is not other for _, other in self.watched):
            return
        watched.feed.nudge()
        batch = self.run(anext(watched.feed))
        assert batch.revision == self.model.revision
        assert list(batch.changes) == watched.expected
        watched.expected.clear()

    @rule(watched=consumes(feeds))
    def close_feed(self, watched: Watched) -> None:
        self.watched = [(prefix, other) for prefix, other in self.watched if other is not watched]
        self.run(watched.feed.aclose())
        with pytest.raises(StopAsyncIteration):
            self.run(anext(watched.feed))

    @invariant()
    def revisions_have_no_gaps(self) -> None:
        assert self.store.revision == self.model.revision
        assert self.store.oldest <= self.store.revision

    def teardown(self) -> None:
        self.run(self.store.aclose())
        self.loop.close()
