import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.client.chunked import Dechunker
from tests.strategies import cut

BODIES = st.lists(st.binary(min_size=1, max_size=40), max_size=8)
SIZES = st.sampled_from(["{:x}", "{:X}", "{:05x}", "{:x};note=1", "{:x} "])
TRAILERS = st.sampled_from([b"", b"X-Sum: 1\r\n"])


def undone(pieces: list[bytes]) -> tuple[list[bytes], bytes, bool]:
    """Feed the pieces as a reused buffer brings them; return bodies, what was left over, and whether it ended."""
    dechunker, bodies, rest = Dechunker(), [], b""
    buffer = bytearray(1000)
    for piece in pieces:
        buffer[: len(piece)] = piece
        body, used = dechunker.feed(buffer, len(piece))
        bodies.append(body)
        rest += piece[used:]
    return bodies, rest, dechunker.finished


@given(st.data(), BODIES, SIZES, TRAILERS, st.binary(max_size=5))
def test_any_cutting_gives_the_body_and_what_follows_it(data, bodies, size, trailers, behind):
    framed = b"".join(size.format(len(body)).encode() + b"\r\n" + body + b"\r\n" for body in bodies)
    stream = framed + b"0\r\n" + trailers + b"\r\n" + behind

    found, rest, finished = undone(data.draw(cut(stream)))

    assert b"".join(found) == b"".join(bodies)
    assert finished
    assert rest == behind


@given(st.data(), st.integers(1, 30), st.integers(2, 12))
def test_chunks_of_one_size_are_told_apart_from_bodies_that_look_like_framing(data, size, count):
    """The quick way recognises what stands between two chunks by its bytes; a body may hold the same bytes."""
    body = (b"\r\n%x\r\n" % size * 30)[:size]
    stream = (b"%x\r\n%b\r\n" % (size, body)) * count + b"0\r\n\r\n"

    found, _, finished = undone(data.draw(cut(stream)))

    assert b"".join(found) == body * count
    assert finished


def test_what_has_come_of_a_chunk_is_given_at_once():
    assert undone([b"5\r\nab", b"c"])[0] == [b"ab", b"c"]


@pytest.mark.parametrize(
    ("stream", "complaint"),
    [
        (b"xyz\r\n", "expected the size of a chunk, found b'xyz'"),
        (b"-5\r\n", "expected the size of a chunk, found b'-5'"),
        (b"1_0\r\n", "expected the size of a chunk, found b'1_0'"),
        (b"\r\n", "expected the size of a chunk, found b''"),
        (b"2\r\nabc\r\n", "expected a line break after a chunk, found b'c'"),
        (b"3;" + b"x" * 5000, "expected the size of a chunk, found a line of more than 4096 bytes"),
    ],
)
def test_broken_framing_is_named(stream, complaint):
    dechunker = Dechunker()

    dechunker.feed(stream, len(stream))

    assert str(dechunker.error) == complaint
    assert not dechunker.finished
