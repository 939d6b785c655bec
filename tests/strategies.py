"""Inputs that tests of several packages share."""

from hypothesis import strategies as st


@st.composite
def cut(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    """Return the stream cut into chunks anywhere; chunks may be empty."""
    ends = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    return [stream[a:b] for a, b in zip([0, *ends], [*ends, len(stream)], strict=True)]
