"""Ages as kubectl prints them."""

from datetime import UTC, datetime, timedelta

import pytest

from kcpctl.apiserver.http.ages import age, human

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-2.5, "<invalid>"),
        (-1.9, "0s"),
        (0, "0s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (9 * MINUTE + 59, "9m59s"),
        (10 * MINUTE + 30, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 59 * MINUTE, "7h59m"),
        (47 * HOUR + 3599, "47h"),
        (2 * DAY, "2d"),
        (7 * DAY + 23 * HOUR, "7d23h"),
        (8 * DAY + 23 * HOUR, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR, "8y"),
    ],
)
def test_older_things_are_told_in_coarser_units(seconds: float, shown: str) -> None:
    assert human(seconds) == shown


def test_timestamps_are_measured_against_the_clock() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)

    assert age((now - timedelta(hours=5)).isoformat().replace("+00:00", "Z"), now) == "5h"
    assert age("", now) == "<unknown>"
    assert age("yesterday", now) == "<invalid>"
    assert age("2029-12-31T23:59:59", now) == "<invalid>"
