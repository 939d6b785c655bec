"""Timestamps are read by Go's rules."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.shapes.times import TimeError, normal_microseconds, normal_seconds

MICRO = "2006-01-02T15:04:05.000000Z07:00"
SECONDS = "2006-01-02T15:04:05Z07:00"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01T00:00:00+02:00", "2023-12-31T22:00:00Z"),
        ("2024-01-01T00:00:00.987654321Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01T1:00:00Z", "2024-01-01T01:00:00Z"),
        ("0033-01-01T00:00:00Z", "0033-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_a_time_becomes_whole_seconds_of_utc(text: str, normal: str | None) -> None:
    assert normal_seconds(text) == normal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", f'"x" as "{SECONDS}": cannot parse "x" as "2006"'),
        ("", f'"" as "{SECONDS}": cannot parse "" as "2006"'),
        ("2024-13-01T00:00:00Z", '"2024-13-01T00:00:00Z": month out of range'),
        ("2024-02-30T00:00:00Z", '"2024-02-30T00:00:00Z": day out of range'),
        ("2024-01-01T25:00:00Z", '"2024-01-01T25:00:00Z": hour out of range'),
        ("2024-01-01T00:00:60Z", '"2024-01-01T00:00:60Z": second out of range'),
        ("2024-01-01T00:00:00", f'"2024-01-01T00:00:00" as "{SECONDS}": cannot parse "" as "Z07:00"'),
        ("2024-01-01T00:00:00Zx", '"2024-01-01T00:00:00Zx": extra text: "x"'),
        ("2024-01-01 00:00:00Z", f'"2024-01-01 00:00:00Z" as "{SECONDS}": cannot parse " 00:00:00Z" as "T"'),
        ("2024-01-01T00:00:00+25:00", '"2024-01-01T00:00:00+25:00": time zone offset hour out of range'),
        ('a "q"', rf'"a \"q\"" as "{SECONDS}": cannot parse "a \"q\"" as "2006"'),
        ("ü", rf'"\xc3\xbc" as "{SECONDS}": cannot parse "\xc3\xbc" as "2006"'),
    ],
)
def test_what_is_no_time_is_refused_as_go_does(text: str, message: str) -> None:
    with pytest.raises(TimeError) as error:
        normal_seconds(text)

    assert str(error.value) == "parsing time " + message


def test_a_micro_time_wants_six_digits() -> None:
    assert normal_microseconds("2024-01-01T01:00:00.000001+01:00") == "2024-01-01T00:00:00.000001Z"
    with pytest.raises(TimeError) as error:
        normal_microseconds("2024-01-01T00:00:01Z")
    assert str(error.value).endswith(f'"2024-01-01T00:00:01Z" as "{MICRO}": cannot parse "Z" as ".000000"')


@given(st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC)))  # noqa: DTZ001
def test_a_normal_time_stays_as_it_is(moment: datetime) -> None:
    text = f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}".zfill(27)

    assert normal_microseconds(text) == text
    assert normal_seconds(f"{text[:19]}Z") == f"{text[:19]}Z"
