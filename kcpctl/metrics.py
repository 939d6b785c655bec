"""Metrics: figures by name, read when somebody asks, in the text form that Prometheus reads."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from kcpctl import __version__

Samples = Iterable[tuple[Mapping[str, str], float]]
"""The values of one figure, each with its labels."""


class Figure(msgspec.Struct, frozen=True):
    """One figure."""

    name: str
    kind: str
    """`gauge`, or `counter` for what only grows; the name of a counter ends in `_total`."""
    text: str
    read: Callable[[], Samples]
    """Called for each answer, on the event loop: it must be quick, and must not wait."""


BUILD = Figure("kcpctl_build_info", "gauge", "The version that runs.", lambda: [({"version": __version__}, 1)])


class Metrics:
    """All figures of a process; its parts add theirs as they come up."""

    def __init__(self, *figures: Figure) -> None:
        """Begin with these."""
        self._figures: dict[str, Figure] = {}
        self.add(*figures)

    def add(self, *figures: Figure) -> None:
        """Have these shown from now on; one of a name that is there takes its place."""
        self._figures.update((figure.name, figure) for figure in figures)

    def text(self) -> bytes:
        """Return everything at this moment."""
        lines: list[str] = []
        for figure in self._figures.values():
            lines += (f"# HELP {figure.name} {figure.text}", f"# TYPE {figure.name} {figure.kind}")
            lines += (f"{figure.name}{_labels(labels)} {_number(value)}" for labels, value in figure.read())
        return "".join(f"{line}\n" for line in lines).encode()


def single(value: float) -> Samples:
    """Return the samples of a figure without labels."""
    return [({}, value)]


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
