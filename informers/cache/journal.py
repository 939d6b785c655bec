"""What happened to a reflector, counted and told to whoever observes."""

from collections import Counter
from typing import Any

from informers.cache.facts import (
    Backed,
    Checked,
    FellBack,
    Listed,
    Observe,
    Origin,
    Relisted,
    WatchEnded,
    WatchStarted,
)
from informers.cache.fetching import Fetched
from informers.cache.histories import Continuity
from informers.cache.recovery import REGULAR, Action, Phase, Rule, Trouble

_KNOWN_BEFORE = frozenset({Phase.CHECK, Phase.PROVE, Phase.WATCH_START, Phase.WATCH})


class Journal:
    """Counts every transition by its reason, and makes a fact of it."""

    def __init__(self, origin: Origin, observe: Observe) -> None:
        """Tell the facts of that origin to `observe`, which must be quick."""
        self.origin = origin
        self.observe = observe
        self.last_error: Exception | None = None
        """What went wrong last; None again once a watch is established."""
        self.failures = 0
        """Attempts that failed in a row."""
        self.troubles: Counter[tuple[Phase, Trouble]] = Counter()
        """How often what happened."""
        self.lists = 0
        """Whole states that were fetched, as lists or as streams."""
        self.watches = 0
        """Watches that were followed."""
        self.checks = 0
        """How often the server was asked for its revision before a watch resumed."""

    def listed(
        self, fetched: Fetched[Any], *, objects: int, initial: bool, afresh: bool, continuity: Continuity
    ) -> None:
        """The store has a whole state."""
        self.lists += 1
        self.failures = 0
        self.observe(
            Listed(
                self.origin,
                revision=fetched.revision,
                objects=objects,
                quarantined=len(fetched.errors),
                pages=fetched.pages,
                took=fetched.took,
                initial=initial,
                afresh=afresh,
                continuity=continuity,
            )
        )

    def checked(self, ours: str, theirs: str, *, behind: bool) -> None:
        """The server has told its revision."""
        self.checks += 1
        self.observe(Checked(self.origin, ours, theirs, behind))

    def watching(self, revision: str, timeout: float) -> None:
        """A watch is established: all is well."""
        self.watches += 1
        self.failures = 0
        self.last_error = None
        self.observe(WatchStarted(self.origin, revision, timeout))

    def watched(self, reason: Trouble, error: Exception, events: int, lived: float) -> None:
        """A watch that was established has ended."""
        self.observe(WatchEnded(self.origin, reason, error, events, lived))

    def trouble(self, phase: Phase, trouble: Trouble, rule: Rule, error: Exception) -> None:
        """Something happened, and the rule says what to do."""
        self.troubles[phase, trouble] += 1
        if trouble not in REGULAR:
            self.last_error = error
        if rule.action is Action.LIST:
            self.observe(FellBack(self.origin, trouble, error))
        elif rule.action not in (Action.CHECK, Action.WATCH) and (phase in _KNOWN_BEFORE or trouble is Trouble.FORCED):
            self.observe(Relisted(self.origin, phase, trouble, error))

    def backing(self, phase: Phase, trouble: Trouble, rule: Rule, error: Exception, seconds: float) -> None:
        """The attempt has failed, and a pause follows."""
        self.failures += 1
        self.observe(Backed(self.origin, phase, trouble, error, seconds, rule.action, self.failures))
