"""Measuring: each program a few times in fresh processes, once however many rows ask for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.contestants import Informer
from tests.bench.objects import Labels
from tests.bench.programs import Figures, Missing, printed, replaying
from tests.bench.rows import Baseline


@dataclass(frozen=True)
class Sizes:
    """How much there is of everything where several shards are measured."""

    objects: int = 1_000
    """APIExports, and as many APIExportEndpointSlices."""
    shards: int = 100
    """Where one slice lists many."""
    delays: int = 60
    """Writes whose way to the cache is timed."""


class Laboratory:
    """Remembers what it has measured, also that something could not be."""

    def __init__(self, runs: int, say: Callable[[str], None], sizes: Sizes = Sizes()) -> None:
        """Let every figure be the median of so many runs; progress goes to `say`."""
        self.sizes = sizes
        self._runs = runs
        self._say = say
        self._known: dict[tuple[str, ...], Figures | Missing] = {}

    def informer(
        self, informer: Informer, labels: Labels = "shared", options: Sequence[str] = (), *, events: int = 0
    ) -> Figures:
        """Return the informer's figures, those of events only where there are any; raises `Missing`."""

        def measure() -> Figures:
            with replaying(informer.path, labels, informer.server) as url:
                return printed(informer.command(url, events, options))

        return self.once((informer.name, f"{labels} labels", *options), measure)

    def once(self, key: tuple[str, ...], measure: Callable[[], Figures]) -> Figures:
        """Return the median of each figure that `measure` gives; raises `Missing` when it did, also later."""
        if key not in self._known:
            self._known[key] = self._measured(", ".join(key), measure)
        found = self._known[key]
        if isinstance(found, Missing):
            raise found
        return found

    def _measured(self, name: str, measure: Callable[[], Figures]) -> Figures | Missing:
        found = []
        try:
            for number in range(self._runs):
                self._say(f"{name}: {number + 1} of {self._runs}")
                found.append(measure())
        except Missing as missing:
            self._say(f"{name}: skipped: {missing}")
            return missing
        return {figure: median(figures[figure] for figures in found) for figure in found[0]}

    def baselines(
        self,
        figure: str,
        informers: Sequence[Informer],
        *,
        labels: Labels = "shared",
        options: Sequence[str] = (),
        per: float = 1,
        with_events: bool = False,
    ) -> list[Baseline]:
        """Return the figure of those informers that can be had here, divided by `per`."""
        found = []
        for informer in informers:
            try:
                figures = self.informer(informer, labels, options, events=informer.events if with_events else 0)
            except Missing:
                continue  # said already
            found.append(Baseline(informer.name, figures[figure] / per))
        return found
