"""Rate limiters: the exact delays."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.queue.ratelimit import Exponential, RateLimiter, Slowest, TokenBucket


def delays(limiter: RateLimiter, key: str, times: int) -> list[float]:
    return [limiter.next(key) for _ in range(times)]


def test_delays_double_from_5_ms_to_1000_s() -> None:
    found = delays(Exponential(), "a", 20)

    assert found[:5] == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert found[17] == 0.005 * 2**17
    assert found[18:] == [1000, 1000]


def test_ten_thousand_failures_are_no_overflow() -> None:
    assert delays(Exponential(), "a", 10_000)[-1] == 1000


def test_keys_fail_and_are_forgotten_on_their_own() -> None:
    limiter = Exponential()
    delays(limiter, "a", 3)
    delays(limiter, "b", 2)

    limiter.forget("a")
    limiter.forget("never seen")

    assert (limiter.failures("a"), limiter.failures("b")) == (0, 2)
    assert (limiter.next("a"), limiter.next("b")) == (0.005, 0.02)


@given(seed=st.integers(), jitter=st.floats(0, 1), times=st.integers(1, 40))
def test_jitter_only_shortens_and_by_no_more_than_its_share(seed: int, jitter: float, times: int) -> None:
    exact = delays(Exponential(), "a", times)
    found = delays(Exponential(jitter=jitter, rng=random.Random(seed)), "a", times)

    assert all(full * (1 - jitter) <= delay <= full for full, delay in zip(exact, found, strict=True))


def test_jitter_keeps_failures_that_began_together_apart() -> None:
    limiter = Exponential(jitter=0.5, rng=random.Random(1))

    assert len({limiter.next(key) for key in range(100)}) > 90


def test_the_bucket_gives_a_burst_and_then_its_rate() -> None:
    now = 0.0
    bucket = TokenBucket(rate=10, burst=3, monotonic=lambda: now)

    assert delays(bucket, "a", 5) == pytest.approx([0, 0, 0, 0.1, 0.2])
    now = 0.5
    assert delays(bucket, "b", 5) == pytest.approx([0, 0, 0, 0.1, 0.2]), "2 were owed, 5 came, 3 are left"
    now = 1000.0
    assert delays(bucket, "c", 4) == pytest.approx([0, 0, 0, 0.1]), "no more than a burst is saved up"


def test_the_slowest_limiter_decides_and_all_of_them_count() -> None:
    now = 0.0
    limiter = Slowest(Exponential(base=1), TokenBucket(rate=0.1, burst=2, monotonic=lambda: now))

    assert delays(limiter, "a", 3) == [1, 2, 10]
    assert limiter.failures("a") == 3
    limiter.forget("a")
    assert limiter.failures("a") == 0


@pytest.mark.parametrize(("base", "cap", "jitter"), [(0, 1, 0), (2, 1, 0), (1, float("inf"), 0), (1, 2, 1.5)])
def test_limits_that_make_no_sense_are_refused(base: float, cap: float, jitter: float) -> None:
    with pytest.raises(ValueError, match="expected 0 < base <= cap"):
        Exponential(base=base, cap=cap, jitter=jitter)


def test_a_bucket_that_never_fills_is_refused() -> None:
    with pytest.raises(ValueError, match="expected rate > 0"):
        TokenBucket(rate=0)
    with pytest.raises(ValueError, match="at least one"):
        Slowest()
