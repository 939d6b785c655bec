"""Metrics are what Prometheus reads, read anew for each answer."""

from kcpctl import __version__
from kcpctl.metrics import BUILD, Figure, Metrics, single


def test_figures_are_read_when_somebody_asks_each_with_its_kind_and_its_labels() -> None:
    held = {"shards": 2.0, "apiexports": 0.5}
    metrics = Metrics(
        Figure("a_held", "gauge", "What is held.", lambda: [({"kind": kind}, n) for kind, n in held.items()]),
        Figure("a_visits_total", "counter", "Visits.", lambda: single(len(held))),
    )
    held["slices"] = 1

    assert metrics.text().decode().splitlines() == [
        "# HELP a_held What is held.",
        "# TYPE a_held gauge",
        'a_held{kind="shards"} 2',
        'a_held{kind="apiexports"} 0.5',
        'a_held{kind="slices"} 1',
        "# HELP a_visits_total Visits.",
        "# TYPE a_visits_total counter",
        "a_visits_total 3",
    ]


def test_labels_may_hold_anything() -> None:
    metrics = Metrics(Figure("a", "gauge", "A.", lambda: [({"x": 'a"b\\c\nd', "y": ""}, True)]))

    assert metrics.text().decode().splitlines()[-1] == 'a{x="a\\"b\\\\c\\nd",y=""} 1'


def test_the_version_is_one_of_them() -> None:
    assert f'kcpctl_build_info{{version="{__version__}"}} 1' in Metrics(BUILD).text().decode()
