"""Observers: told of everything, harmful to nobody."""

from typing import Any

from informers.runtime.facts import ObserverDropped
from informers.runtime.observers import Observers


class Listening:
    def __init__(self) -> None:
        self.facts: list[Any] = []

    def notice(self, fact: Any) -> None:
        self.facts.append(fact)


class Failing:
    calls = 0

    def notice(self, fact: Any) -> None:
        self.calls += 1
        raise RuntimeError("no")


def test_an_observer_that_raises_is_dropped_and_reported_once_and_the_others_miss_nothing() -> None:
    first, failing, last = Listening(), Failing(), Listening()
    observers = Observers([first, failing, last])

    observers.notice("one")
    observers.notice("two")

    assert failing.calls == 1
    for listening in (first, last):
        [dropped] = [fact for fact in listening.facts if isinstance(fact, ObserverDropped)]
        assert (dropped.observer, str(dropped.error)) == ("Failing", "no")
        assert [fact for fact in listening.facts if fact is not dropped] == ["one", "two"]
    assert [fact.observer for fact in observers.dropped] == ["Failing"]


def test_observers_that_all_raise_leave_nobody_to_tell_but_are_remembered() -> None:
    observers = Observers([Failing(), Failing()])

    observers.notice("one")
    observers.notice("two")

    assert len(observers.dropped) == 2
