import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.errors import DecodeError, Disconnected
from informers.client.wire import Gunzip, LineSplitter
from tests.strategies import cut

TEXTS = st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"_")), max_size=12)


@given(st.data(), TEXTS, st.binary(max_size=10).map(lambda raw: raw.replace(b"\n", b"_")))
def test_any_chunking_gives_the_same_lines(data, lines, tail):
    stream = b"".join(line + b"\n" for line in lines) + tail
    splitter = LineSplitter()

    found = [splitter.feed(chunk) for chunk in data.draw(cut(stream))]

    assert b"".join(found) == b"".join(line + b"\n" for line in lines)
    assert all(block.endswith(b"\n") for block in found if block)
    assert splitter.tail == tail


@given(st.data(), st.lists(st.integers(0, 30), max_size=8), st.integers(1, 20))
def test_a_line_over_the_limit_is_refused_under_any_chunking(data, lengths, limit):
    stream = b"".join(b"x" * length + b"\n" for length in lengths)
    splitter = LineSplitter(limit)

    def feed_all() -> None:
        for chunk in data.draw(cut(stream)):
            splitter.feed(chunk)

    if any(length > limit for length in lengths):
        with pytest.raises(DecodeError, match=f"at most {limit} bytes"):
            feed_all()
    else:
        feed_all()


def test_an_endless_line_is_refused_before_it_is_stored():
    splitter = LineSplitter(limit=1000)

    for _ in range(6):
        splitter.feed(b"y" * 150)

    with pytest.raises(DecodeError, match="at most 1000 bytes, found one of 1050"):
        splitter.feed(b"y" * 150)


def test_a_long_line_in_many_pieces_is_not_searched_again_and_again():
    """A megabyte in chunks of 16 bytes: looking at it anew for each chunk would be 34 billion bytes."""
    splitter = LineSplitter()
    for _ in range(65_536):
        assert splitter.feed(b"z" * 16) == b""

    line = splitter.feed(b"\n")

    assert len(line) == 2**20 + 1


MEMBERS = st.lists(st.tuples(st.binary(max_size=200), st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=6)


@given(st.data(), MEMBERS)
def test_any_chunking_gives_the_same_bytes_of_many_gzip_members(data, members):
    """Members of every level, each followed by some of the zero bytes that gzip allows as padding."""
    stream = b"".join(gzip.compress(plain, level) + b"\0" * padding for plain, level, padding in members)
    gunzip = Gunzip()

    found = [piece for chunk in data.draw(cut(stream)) for piece in gunzip.feed(chunk)]
    gunzip.close()

    assert b"".join(found) == b"".join(plain for plain, _, _ in members)


@given(st.data(), MEMBERS)
def test_a_stream_that_ends_inside_a_member_is_noticed(data, members):
    whole = [gzip.compress(plain, level) for plain, level, _ in members]
    missing = data.draw(st.integers(1, len(whole[-1]) - 1))
    stream = b"".join(whole)[:-missing]
    gunzip = Gunzip()
    for chunk in data.draw(cut(stream)):
        list(gunzip.feed(chunk))

    with pytest.raises(Disconnected, match="inside it"):
        gunzip.close()


def test_what_a_flush_brought_is_there_before_its_member_ends():
    """Events of a compressed watch must not wait for the next ones."""
    compressor = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    flushed = compressor.compress(b"an event\n") + compressor.flush(zlib.Z_SYNC_FLUSH)

    assert b"".join(Gunzip().feed(flushed)) == b"an event\n"


@pytest.mark.parametrize("before", [b"", gzip.compress(b"good", mtime=0)], ids=["at once", "after a member"])
def test_bytes_that_are_not_gzip_are_refused(before):
    with pytest.raises(DecodeError, match="expected gzip"):
        list(Gunzip().feed(before + b"plain text"))


def test_a_small_chunk_that_holds_much_comes_in_pieces():
    bomb = gzip.compress(bytes(64 * 2**20))

    pieces = Gunzip().feed(bomb)

    assert max(len(piece) for piece in pieces) <= 17 * 2**20
