import json

import pytest
from multidict import CIMultiDict

from informers.api.errors import NotFound
from informers.api.resources import Collection, Resource
from informers.client.heeding import warnings_in
from informers.client.server import Server
from tests.informers.client.servers import always, answer, connected

TEAMS = Resource("example.com", "v1", "teams")
UNKNOWN = '299 - "unknown field \\"status.reday\\""'


def found(*headers):
    return list(warnings_in(CIMultiDict([("Warning", header) for header in headers])))


@pytest.mark.parametrize(
    ("headers", "texts"),
    [
        ((), []),
        ((UNKNOWN,), ['unknown field "status.reday"']),
        ((UNKNOWN, '299 - "two"'), ['unknown field "status.reday"', "two"]),
        (('299 - "a, b", 299 agent "c"',), ["a, b", "c"]),
        (('299 - "dated" "Tue, 01 Dec 2026 14:00:00 GMT", 299 - "more"',), ["dated", "more"]),
        (('110 cache "Response is stale"', '299 - ""'), []),
        (("299 - unquoted", '299 - "open', "", "abc"), []),
        (('299 - "a\x1b[31mb\udcff"',), ["a [31mb"]),
        ((r'299 - "back\\slash"',), ["back\\slash"]),
    ],
)
def test_warnings_are_read_as_kubernetes_writes_them(headers, texts):
    assert found(*headers) == texts


async def warned_by(call, **options):
    """Return what the observer of a server is told that warns of everything."""
    told = []
    body = json.dumps({"metadata": {"name": "red", "resourceVersion": "1"}, "items": []}).encode()
    async with connected(always(answer(body, Warning=UNKNOWN, **options))) as (_, plain):
        await call(Server("main", plain.transport, noticed=told.append).client())
    return [(one.server, one.method, one.target.partition("?")[0], one.text) for one in told]


PATH = "/apis/example.com/v1/teams"
TEXT = 'unknown field "status.reday"'


async def test_the_warning_of_any_answer_is_told():
    async def watch(client):
        async with client.watch_batches(Collection(TEAMS), reader=client._reader(TEAMS)):
            pass

    async def refused(client):
        with pytest.raises(NotFound):
            await client.get(TEAMS, "red")

    assert await warned_by(lambda client: client.get(TEAMS, "red")) == [("main", "GET", f"{PATH}/red", TEXT)]
    assert await warned_by(lambda client: client.list(TEAMS)) == [("main", "GET", PATH, TEXT)]
    assert await warned_by(watch) == [("main", "GET", PATH, TEXT)]
    assert await warned_by(refused, status=404) == [("main", "GET", f"{PATH}/red", TEXT)]


@pytest.mark.parametrize(
    "write",
    [
        lambda client: client.create(TEAMS, {"metadata": {"name": "red"}}),
        lambda client: client.patch(TEAMS, "red", {"status": {"reday": 1}}, subresource="status"),
        lambda client: client.delete(TEAMS, "red"),
    ],
)
async def test_a_write_carries_what_the_server_warned_of(write):
    writes = []
    async with connected(always(answer(b'{"metadata":{"name":"red"}}', Warning=UNKNOWN))) as (_, server):
        await write(server.client().noting(writes.append))

    assert [one.warnings for one in writes] == [(TEXT,)]
