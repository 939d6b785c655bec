"""Plans: one seed, one list of steps, each a line of words that can be printed, replayed and dropped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

SHARDS = ("amber", "green", "violet")
CACHE = "cache"
REGIONS = ("eu", "us")
NAMES = ("e0", "e1")


class Step(NamedTuple):
    """One thing that happens: a verb and what it is done to."""

    verb: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.verb, *self.words))


Plan = Sequence[Step]


def parse(text: str) -> list[Step]:
    """Read a plan again: a step a line; empty lines and what follows a # do not count."""
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return [Step(words[0], tuple(words[1:])) for words in lines if words]


def without(plan: Plan, left_out: Sequence[str]) -> list[Step]:
    """Return the plan without steps that begin with these words, such as `kill` or `tamper delete`."""
    return [step for step in plan if not any(f"{step} ".startswith(f"{words} ") for words in left_out)]


@dataclass
class _Draft:
    """A plan as it grows, and what is broken at its end, so that steps make sense."""

    rng: Random
    steps: list[Step] = field(default_factory=list)
    down: set[str] = field(default_factory=set)
    frozen: set[str] = field(default_factory=set)
    faulty: set[str] = field(default_factory=set)
    copied: set[str] = field(default_factory=set)
    starts: int = 0

    def add(self, verb: str, *words: str) -> None:
        self.steps.append(Step(verb, words))

    def any_shard(self) -> str:
        return self.rng.choice(SHARDS)

    def anybody(self) -> str:
        return self.rng.choice((*SHARDS, CACHE))

    @property
    def answering(self) -> list[str]:
        return [name for name in SHARDS if name not in self.down | self.frozen]


_MOST_STARTS = 4
"""Processes take a second to start, and a seed should take ten."""


def _network(draft: _Draft) -> None:
    name = draft.any_shard()
    if name in draft.faulty:
        draft.faulty.discard(name)
        draft.add("heal", name)
        return
    fault = draft.rng.choice(("cut", "cut", "half-open", "delay", "truncate"))
    draft.add(fault, name)
    if fault != "truncate":
        draft.faulty.add(name)


def _freeze(draft: _Draft) -> None:
    name = draft.anybody()
    if name in draft.down:
        return
    if name in draft.frozen:
        draft.frozen.discard(name)
        draft.add("thaw", name)
    else:
        draft.frozen.add(name)
        draft.add("freeze", name)


def _end(draft: _Draft) -> None:
    name = draft.anybody()
    if name in draft.down:
        draft.down.discard(name)
        draft.add("start", name)
    elif draft.starts < _MOST_STARTS:
        draft.starts += 1
        draft.down.add(name)
        draft.frozen.discard(name)
        draft.add(draft.rng.choice(("kill", "kill", "end")), name)


def _begin_anew(draft: _Draft) -> None:
    if draft.starts >= _MOST_STARTS:
        return
    name = draft.rng.choice((*SHARDS, CACHE, CACHE, CACHE))
    verbs = ["empty", "restart"] if name == CACHE else ["empty", "wipe", "restart", "restart"]
    if name in draft.copied:
        verbs += ["older", "older", "older"]
    draft.starts += 1
    draft.down.discard(name)
    draft.frozen.discard(name)
    draft.add(draft.rng.choice(verbs), name)


def _copy(draft: _Draft) -> None:
    name = draft.anybody()
    if name not in draft.down:
        draft.copied.add(name)
        draft.add("copy", name)


def _namesake(draft: _Draft) -> None:
    if draft.starts < _MOST_STARTS:
        draft.starts += 1
        draft.add("namesake", draft.any_shard(), draft.rng.choice(("seen", "unseen")))


def _jump(draft: _Draft) -> None:
    draft.add("jump", draft.anybody(), draft.rng.choice(("-3600", "-5", "5", "3600", "86400")))


def _tamper(draft: _Draft) -> None:
    how = draft.rng.choice(("delete", "raise", "break", "relabel", "ghost"))
    resource = draft.rng.choice(("shards", "apiexports", "apiexportendpointslices"))
    draft.add("tamper", how, "shards" if how == "relabel" else resource, draft.any_shard())


_DEEDS = (
    *("label", "unlabel", "partition", "unpartition", "narrow"),
    *("export", "unexport", "unexport", "slice", "unslice"),
    *("extra", "unextra", "twin"),
)


def _work(draft: _Draft) -> None:
    if not draft.answering:
        return
    rng, home = draft.rng, draft.rng.choice(draft.answering)
    name, region = rng.choice(NAMES), rng.choice(REGIONS)
    verb = rng.choice(_DEEDS)
    words = {
        "label": (home, region),
        "unlabel": (home,),
        "partition": (home, region),
        "unpartition": (home,),
        "narrow": (home,),
        "slice": (home, rng.choice(SHARDS)),
        "unslice": (home,),
        "extra": (home, region),
        "unextra": (home,),
        "twin": (home,),
    }
    draft.add(verb, *words.get(verb, (home, name)))


def _odd_work(draft: _Draft) -> None:
    if not draft.answering:
        return
    rng, home = draft.rng, draft.rng.choice(draft.answering)
    verb = rng.choice(("unshard", "burst", "local-url", "move"))
    if verb in ("burst", "move"):
        if draft.starts >= _MOST_STARTS:
            return
        draft.starts += 1
    draft.add(verb, home)


def _operate(draft: _Draft) -> None:
    draft.add(draft.rng.choice(("adopt", "remove", "forget")), draft.any_shard())


def _wait(draft: _Draft) -> None:
    draft.add("wait", draft.rng.choice(("0.05", "0.2", "0.6")))


def _settle(draft: _Draft) -> None:
    for wanted in (draft.down, draft.frozen, draft.faulty):
        wanted.clear()
    draft.add("settle")


_KINDS: tuple[tuple[Callable[[_Draft], None], int], ...] = (
    (_work, 14),
    (_odd_work, 4),
    (_network, 8),
    (_freeze, 3),
    (_end, 4),
    (_begin_anew, 5),
    (_copy, 3),
    (_namesake, 1),
    (_jump, 2),
    (_tamper, 4),
    (_operate, 2),
    (_wait, 6),
    (_settle, 1),
)


def plan_of(seed: int) -> list[Step]:
    """Return the seed's plan: the same one for ever, as long as this module stays as it is."""
    draft = _Draft(Random(seed))
    kinds, weights = zip(*_KINDS, strict=True)
    length = draft.rng.randint(8, 20)
    while len(draft.steps) < length:
        draft.rng.choices(kinds, weights)[0](draft)
    return draft.steps
