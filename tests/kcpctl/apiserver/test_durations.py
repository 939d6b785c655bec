"""Durations in Go's notation."""

import pytest

from kcpctl.apiserver import durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("32s", 32), ("1h15m30.5s", 4530.5), ("100ms", 0.1), ("-1.5m", -90), ("+2s", 2), (".5s", 0.5)],
)
def test_parts_add_up_to_seconds(text: str, seconds: float) -> None:
    assert durations.parse(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("invalid", 'time: invalid duration "invalid"'),
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        (".s", 'time: invalid duration ".s"'),
        ("5", 'time: missing unit in duration "5"'),
        ("5d", 'time: unknown unit "d" in duration "5d"'),
    ],
)
def test_what_is_none_is_refused_in_the_words_of_go(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        durations.parse(text)

    assert str(caught.value) == message
