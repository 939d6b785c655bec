import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.decoding import Reader
from informers.api.errors import ApiError, DecodeError, Disconnected, Expired, ReadTimeout
from informers.api.resources import Collection, Resource
from informers.client.watching import Batches
from tests.informers.client.servers import LAST_CHUNK, always, answer, chunk, connected, opening
from tests.strategies import cut

TEAMS = Resource("example.com", "v1", "teams")
BOOKMARKS = "&allowWatchBookmarks=true"
ALL_TEAMS = Collection(TEAMS)


def line(name, kind="ADDED"):
    return json.dumps({"type": kind, "object": {"metadata": {"name": name, "resourceVersion": "5"}}}).encode() + b"\n"


async def as_chunks(chunks):
    for piece in chunks:
        yield piece


async def collected(batches):
    """Return the events until the end or the error, and the error."""
    found = []
    try:
        async for batch in batches:
            assert batch
            found += batch
    except (DecodeError, Disconnected) as error:
        return found, error
    return found, None


@given(st.data(), st.lists(st.sampled_from([line("a"), line("b", "DELETED"), b"\n", b"rubbish\n", line("c")[:-9]])))
def test_any_chunking_gives_the_same_events_and_the_same_error_after_them(data, lines):
    stream = b"".join(lines)
    chunks = data.draw(cut(stream))

    whole = asyncio.run(collected(Batches(as_chunks([stream]), Reader(TEAMS))))
    cut_up = asyncio.run(collected(Batches(as_chunks(chunks), Reader(TEAMS))))

    assert [(e.type, e.object.name) for e in cut_up[0]] == [(e.type, e.object.name) for e in whole[0]]
    assert (type(cut_up[1]), str(cut_up[1])) == (type(whole[1]), str(whole[1]))


@pytest.mark.parametrize(
    ("tail", "error"), [(b"", None), (b" \r\n ", None), (line("b")[:-1], Disconnected), (b"{", Disconnected)]
)
async def test_only_an_end_between_lines_is_a_clean_end(tail, error):
    events, found = await collected(Batches(as_chunks([line("a") + tail]), Reader(TEAMS)))

    assert [event.object.name for event in events] == ["a"]
    assert type(found) is (error or type(None))


async def test_one_chunk_is_one_batch():
    """Readers apply a batch in one step: what arrived together is seen together."""
    chunks = [line("a") + line("b") + line("c")[:10], line("c")[10:]]

    batches = [batch async for batch in Batches(as_chunks(chunks), Reader(TEAMS))]

    assert [[event.object.name for event in batch] for batch in batches] == [["a", "b"], ["c"]]


async def test_a_watch_asks_for_what_it_was_told():
    async with connected(always(answer(b""))) as (served, server):
        client = server.client()
        collection = Collection(TEAMS, namespace="n1", label_selector="a in (b)")
        async with client.watch_batches(collection, reader=Reader(TEAMS), rv="41", timeout=300.9) as batches:
            assert [batch async for batch in batches] == []
        async with client.watch_batches(ALL_TEAMS, reader=Reader(TEAMS), timeout=60, initial_events=True):
            pass
        async with client.watch_batches(ALL_TEAMS, reader=Reader(TEAMS), rv="0", timeout=0.1, bookmarks=False):
            pass

    assert [asked.target.removeprefix("/apis/example.com/v1/") for asked in served.asked] == [
        "namespaces/n1/teams?watch=true&labelSelector=a%20in%20%28b%29&resourceVersion=41&timeoutSeconds=300"
        + BOOKMARKS,
        "teams?watch=true&timeoutSeconds=60" + BOOKMARKS + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        "teams?watch=true&resourceVersion=0&timeoutSeconds=1",
    ]


async def test_a_refused_watch_is_a_typed_error_and_sent_once():
    body = json.dumps({"kind": "Status", "reason": "Expired", "message": "too old resource version", "code": 410})
    async with connected(always(answer(body.encode(), status=410, Retry_After="1"))) as (served, server):
        with pytest.raises(Expired, match="too old"):
            async with server.client().watch_batches(ALL_TEAMS, reader=Reader(TEAMS), rv="1"):
                raise AssertionError("entered")

    assert len(served.asked) == 1


async def test_a_status_is_not_taken_for_an_event():
    """A server that fails with a body of JSON lines must not be read as a watch."""
    async with connected(always(answer(line("a"), status=500))) as (_served, server):
        with pytest.raises(ApiError):
            async with server.client().watch_batches(ALL_TEAMS, reader=Reader(TEAMS)):
                raise AssertionError("entered")


async def test_a_page_of_html_is_not_a_watch():
    async with connected(always(answer(b"<html>", kind="text/html"))) as (_served, server):
        with pytest.raises(DecodeError, match="found text/html: '<html>'; is the address that of an API server"):
            async with server.client().watch_batches(ALL_TEAMS, reader=Reader(TEAMS)):
                raise AssertionError("entered")


async def test_a_watch_whose_server_forgets_to_end_it_is_given_up_after_a_margin():
    async def handler(asked, writer):
        writer.write(opening() + chunk(line("a")))
        await writer.drain()
        await asyncio.Event().wait()

    async with connected(handler) as (_served, server):
        watch = server.client().watch_batches(ALL_TEAMS, reader=Reader(TEAMS), timeout=0.01, margin=0.02)
        async with watch as batches:
            assert [event.object.name for event in await anext(batches)] == ["a"]
            with pytest.raises(ReadTimeout, match=r"within 0\.03 s"):
                await anext(batches)


async def test_a_silent_watch_is_given_up_after_its_idle_time():
    async def handler(asked, writer):
        writer.write(opening())
        await writer.drain()
        await asyncio.Event().wait()

    async with connected(handler) as (_served, server):
        with pytest.raises(ReadTimeout, match=r"every 0\.02 s"):
            async with server.client().watch_batches(ALL_TEAMS, reader=Reader(TEAMS), idle=0.02) as batches:
                await anext(batches)


async def test_leaving_a_watch_drops_its_connection():
    async with connected(always(opening() + chunk(line("a")))) as (served, server):
        async with server.client().watch_batches(ALL_TEAMS, reader=Reader(TEAMS)) as batches:
            await anext(batches)

        await served.disconnected.wait()


async def test_a_line_of_many_megabytes_is_an_event_like_any_other():
    """Other clients stop at 128 kB or 4 MiB, which an object that etcd takes can exceed in JSON."""
    big = {"type": "ADDED", "object": {"metadata": {"name": "big"}, "data": "x" * 8 * 2**20}}
    stream = opening() + chunk(line("a") + json.dumps(big).encode() + b"\n" + line("b")) + LAST_CHUNK
    async with (
        connected(always(stream)) as (_, server),
        server.client().watch_batches(ALL_TEAMS, reader=Reader(TEAMS)) as batches,
    ):
        found = [event.object.name async for batch in batches for event in batch]

    assert found == ["a", "big", "b"]


async def test_a_plain_watch_yields_event_by_event_and_ends_with_the_server():
    body = opening() + chunk(line("a") + line("b", "MODIFIED")) + chunk(line("", "BOOKMARK")) + LAST_CHUNK
    async with connected(always(body)) as (_served, server):
        found = [event async for event in server.client().watch(TEAMS, rv="4")]

    assert [(event.type, event.revision) for event in found] == [("ADDED", "5"), ("MODIFIED", "5"), ("BOOKMARK", "5")]
