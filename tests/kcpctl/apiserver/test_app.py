"""The application: from a request to its answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
import pytest

from informers.clock import VirtualClock
from kcpctl.apiserver import stored
from kcpctl.apiserver.app import ApiServer, Seen
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.exchange import Answer, Incoming, User
from kcpctl.apiserver.failures import not_built
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.health import Health
from kcpctl.apiserver.http.server import serving
from kcpctl.apiserver.http.streams import GZIP_OVER, close
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.mounts import Mount, Scoped, Single
from kcpctl.apiserver.served import Column, Served
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import World
from tests.kcpctl.apiserver.kinds import ALL, CONFIGMAPS, PLANETS, WIDGETS, FixedCatalog, kind

ROOT = User("root", groups=("system:masters",))
CONFIGS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
RELIC = 'old.example.com/v1 "Relic" is deprecated'
LETTERS = kind(
    "example.com", "v1", "letters", "Letter", is_custom=True, columns=(Column("Text", "string", lambda o: o["text"]),)
)
OLD = kind("old.example.com", "v1", "relics", "Relic", is_custom=True, deprecation=RELIC)


class Server:
    """An application over one world in memory, and what its observer saw."""

    def __init__(self, **mounts: Mount) -> None:
        self.clock = VirtualClock()
        self.world = World(MemoryStorage(clock=self.clock), FixedCatalog((*ALL, OLD, LETTERS)), clock=self.clock)
        self.seen: list[Seen] = []
        self.app = ApiServer(
            {"": Mount(self.world, Single()), **mounts},
            Authentication({"bob": User("bob")}),
            health=Health(ready={"storage": str}),
            observe=self.seen.append,
            clock=self.clock,
        )

    async def ask(
        self, method: str, path: str, *, body: bytes = b"", user: User | None = ROOT, **headers: str
    ) -> Answer:
        """Return the answer, streams read to their end."""
        path, _, query = path.partition("?")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self.app(Incoming(method, path, query, named, body, user))
        if isinstance(answer.body, bytes) or answer.live:
            return answer
        return msgspec.structs.replace(answer, body=b"".join([chunk async for chunk in answer.body]))

    @asynccontextmanager
    async def letters(self) -> AsyncIterator[aiohttp.ClientResponse]:
        """Ask for the table of all letters on a socket."""

        async def as_root(incoming: Incoming) -> Answer:
            return await self.app(msgspec.structs.replace(incoming, peer=ROOT))

        async with (
            serving(as_root, port=0) as server,
            aiohttp.ClientSession(headers={"Accept": TABLE}) as http,
            http.get(f"{server.address}/apis/example.com/v1/letters") as got,
        ):
            yield got

    async def store(self, served: Served, name: str, **other: Any) -> None:
        """Put an object into the store, as a write would."""
        namespace = "default" if served.namespaced else ""
        metadata = {"name": name, "uid": f"u-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
        metadata |= {"namespace": namespace} if namespace else {}
        whole = {"apiVersion": served.api_version, "kind": served.kind, "metadata": metadata, **other}
        scope = Scope("")
        await self.world.storage.create(object_key(served, scope, namespace, name), stored.encode(whole, scope))


@pytest.fixture
def server() -> Server:
    return Server()


def raw(answer: Answer) -> bytes:
    assert isinstance(answer.body, bytes)
    return answer.body


def json(answer: Answer) -> Any:
    return msgspec.json.decode(raw(answer))


def header(answer: Answer, name: str) -> list[str]:
    return [value for found, value in answer.headers if found == name]


async def test_every_answer_has_an_audit_id_of_its_own_and_is_not_cached(server: Server) -> None:
    first, second = await server.ask("GET", "/version"), await server.ask("GET", "/nope")

    assert header(first, "Audit-Id") != header(second, "Audit-Id")
    assert header(first, "Cache-Control") == ["no-cache, private"]
    assert header(await server.ask("GET", "/version", audit_id="mine"), "Audit-Id") == ["mine"]


async def test_who_asks_is_settled_before_what_is_there(server: Server) -> None:
    assert (await server.ask("GET", "/nope", user=None)).status == 403
    assert (await server.ask("GET", "/nope", user=None, authorization="Bearer wrong")).status == 401
    assert (await server.ask("GET", "/nope", user=None, authorization="Bearer bob")).status == 403
    assert raw(await server.ask("GET", "/nope")) == b"404 page not found\n"


async def test_a_request_in_anothers_name_is_not_answered(server: Server) -> None:
    assert (await server.ask("GET", "/api/v1/configmaps", impersonate_user="bob")).status == 501


async def test_a_refusal_is_a_status(server: Server) -> None:
    answer = await server.ask("GET", CONFIGS, user=None)

    assert header(answer, "X-Content-Type-Options") == ["nosniff"]
    assert list(json(answer)) == ["kind", "apiVersion", "metadata", "status", "message", "reason", "details", "code"]
    assert json(answer)["details"] == {"kind": "configmaps"}


@pytest.mark.parametrize("path", ["/version", "/healthz", "/livez", "/readyz", "/readyz/storage"])
async def test_anybody_may_ask_for_version_and_health(server: Server, path: str) -> None:
    assert (await server.ask("GET", path, user=None)).status == 200


async def test_the_version_is_strict_semver(server: Server) -> None:
    found = json(await server.ask("GET", "/version"))

    assert found["gitVersion"] == "v1.36.2+kcpctl"
    assert (found["major"], found["minor"]) == ("1", "36")
    assert all(isinstance(value, str) for value in found.values())


async def test_the_root_lists_what_is_there(server: Server) -> None:
    paths = json(await server.ask("GET", "/"))["paths"]

    assert paths == sorted(paths)
    assert {"/api/v1", "/apis/golden.example.com/v1beta1", "/readyz/storage", "/openapi/v3", "/version"} <= set(paths)


async def test_an_object_is_served_in_the_form_that_was_asked_for(server: Server) -> None:
    await server.store(CONFIGMAPS, "c", data={"a": "1"})

    plain = await server.ask("GET", f"{CONFIGS}/c")
    assert header(plain, "Content-Type") == ["application/json"]
    assert json(plain)["data"] == {"a": "1"}
    assert raw(plain).endswith(b"}\n")
    table = json(await server.ask("GET", f"{CONFIGS}/c", accept=TABLE))
    assert table["rows"][0]["cells"][0] == "c"
    assert table["metadata"]["resourceVersion"] == json(plain)["metadata"]["resourceVersion"]
    text = await server.ask("GET", f"{CONFIGS}/c", accept="application/yaml")
    assert header(text, "Content-Type") == ["application/yaml"]
    assert raw(text).startswith(b'apiVersion: v1\ndata:\n  a: "1"\n')
    assert raw(await server.ask("GET", f"{CONFIGS}/c?pretty=1")).startswith(b'{\n  "apiVersion": "v1",\n')


async def test_a_list_is_served_in_the_form_that_was_asked_for(server: Server) -> None:
    for name in ("a", "b", "c"):
        await server.store(PLANETS, name)
    collection = "/apis/example.com/v1/planets"

    plain = json(await server.ask("GET", f"{collection}?limit=2"))
    assert (plain["kind"], [item["metadata"]["name"] for item in plain["items"]]) == ("PlanetList", ["a", "b"])
    table = json(await server.ask("GET", f"{collection}?limit=2", accept=TABLE))
    assert table["metadata"] == plain["metadata"]
    assert [row["cells"][0] for row in table["rows"]] == ["a", "b"]
    partial = json(await server.ask("GET", collection, accept=METADATA_LIST))
    assert [set(item) for item in partial["items"]] == [{"kind", "apiVersion", "metadata"}] * 3
    assert raw(await server.ask("GET", collection, accept="application/yaml")).count(b"kind: Planet\n") == 3


async def test_one_object_is_not_a_list(server: Server) -> None:
    await server.store(CONFIGMAPS, "c")
    await server.store(WIDGETS, "w")

    built_in = await server.ask("GET", f"{CONFIGS}/c", accept=METADATA_LIST)
    custom = await server.ask("GET", "/apis/golden.example.com/v1/namespaces/default/widgets/w", accept=METADATA_LIST)

    assert (built_in.status, custom.status) == (406, 406)
    assert json(built_in)["message"].endswith("is not a list (*core.ConfigMap)")
    assert json(custom)["message"].endswith("is not a list (*unstructured.Unstructured)")


async def test_a_failure_is_written_as_the_client_reads(server: Server) -> None:
    answer = await server.ask("GET", f"{CONFIGS}/nope", accept="application/yaml")

    assert answer.status == 404
    assert raw(answer).startswith(b"apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: nope\n")


async def test_built_ins_and_custom_resources_refuse_unknown_types_each_in_their_words(server: Server) -> None:
    built_in = json(await server.ask("GET", CONFIGS, accept="application/xml"))
    custom = json(await server.ask("GET", "/apis/example.com/v1/planets", accept="application/xml"))

    assert built_in["message"].startswith("406: Not Acceptable")
    assert custom["message"].startswith("only the following media types are accepted")


async def test_a_watch_streams_and_is_seen_when_it_ends(server: Server) -> None:
    await server.store(CONFIGMAPS, "c")
    answer = await server.ask("GET", f"{CONFIGS}?watch=1&timeoutSeconds=5", accept=TABLE, user_agent="test")
    assert answer.live
    assert not isinstance(answer.body, bytes)
    assert server.seen == []

    async def lines(stream: AsyncIterator[bytes]) -> list[Any]:
        return [msgspec.json.decode(line) async for chunk in stream for line in chunk.splitlines()]

    events = await server.clock.run(lines(answer.body))

    assert [(event["type"], event["object"]["rows"][0]["cells"][0]) for event in events] == [("ADDED", "c")]
    (seen,) = server.seen
    assert (seen.path, seen.query, seen.status, seen.live) == (CONFIGS, "watch=1&timeoutSeconds=5", 200, True)
    assert (seen.seconds, seen.user.name, seen.user_agent) == (5, "root", "test")


async def test_a_client_that_leaves_a_watch_ends_it(server: Server) -> None:
    answer = await server.ask("GET", f"{CONFIGS}?watch=1")
    assert not isinstance(answer.body, bytes)
    waiting = asyncio.ensure_future(anext(answer.body))
    await server.clock.run_until_idle()

    await answer.body.aclose()  # type: ignore[attr-defined]

    with pytest.raises(StopAsyncIteration):
        await waiting
    assert [seen.live for seen in server.seen] == [True]


async def test_an_unexpected_error_tells_the_client_nothing_and_the_observer_everything(server: Server) -> None:
    class Broken(MemoryStorage):
        async def get(self, key: str) -> None:
            raise ZeroDivisionError("secret")

    server.world.storage = Broken()

    answer = await server.ask("GET", f"{CONFIGS}/c")

    assert (answer.status, json(answer)["reason"]) == (500, "InternalError")
    assert b"secret" not in raw(answer)
    assert isinstance(server.seen[0].error, ZeroDivisionError)


async def test_a_list_that_cannot_be_written_is_a_failure_that_is_told_once(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    await server.store(LETTERS, "without")

    async with server.letters() as got:
        assert (got.status, (await got.json())["reason"]) == (500, "InternalError")

    assert [(seen.status, type(seen.error)) for seen in server.seen] == [(500, KeyError)]
    assert not caplog.records


async def test_a_long_list_that_cannot_be_written_to_its_end_breaks_off_and_is_told_once(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    await server.store(LETTERS, "long", text="x" * 2 * GZIP_OVER)
    await server.store(LETTERS, "without")

    async with server.letters() as got:
        assert got.status == 200
        with pytest.raises(aiohttp.ClientPayloadError):
            await got.read()

    assert [(seen.status, type(seen.error)) for seen in server.seen] == [(200, KeyError)]
    assert not caplog.records


async def test_a_deprecated_version_warns_on_every_request(server: Server) -> None:
    await server.store(OLD, "r")
    path = "/apis/old.example.com/v1/namespaces/default/relics"

    for name in ("", "/r", "/missing"):
        answer = await server.ask("GET", path + name)
        assert header(answer, "Warning") == ['299 - "old.example.com/v1 \\"Relic\\" is deprecated"']


async def test_server_side_apply_is_refused_so_that_kubectl_says_so(server: Server) -> None:
    answer = await server.ask("PATCH", f"{CONFIGS}/c", content_type="application/apply-patch+yaml", body=b"{}")

    assert (answer.status, json(answer)["reason"]) == (415, "UnsupportedMediaType")
    assert "leave --server-side out" in json(answer)["message"]


@pytest.mark.parametrize(
    ("method", "path", "missing"),
    [
        ("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "(RBAC) are not built yet"),
        ("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", "(RBAC) are not built yet"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "may do are not built yet"),
    ],
)
async def test_rights_say_that_they_are_not_built(server: Server, method: str, path: str, missing: str) -> None:
    answer = await server.ask(method, path, body=b"{}" if method == "POST" else b"")

    assert (answer.status, json(answer)["reason"]) == (501, "NotImplemented")
    assert missing in json(answer)["message"]


async def test_published_urls_say_what_is_missing(server: Server) -> None:
    answer = await server.ask("GET", "/services/apiexport/root/e/clusters/*/apis/example.com/v1/things")

    assert answer.status == 501
    assert "virtual workspaces are not built yet" in json(answer)["message"]
    assert (await server.ask("GET", "/services/nope")).status == 404


@pytest.mark.parametrize(
    ("timeout", "message"),
    [("invalid", 'time: invalid duration "invalid"'), ("5", 'time: missing unit in duration "5"')],
)
async def test_a_timeout_that_is_none_is_refused(server: Server, timeout: str, message: str) -> None:
    answer = await server.ask("GET", f"{CONFIGS}?timeout={timeout}")

    assert answer.status == 400
    assert json(answer)["message"] == f"invalid timeout specified in the request URL - {message}"
    assert (await server.ask("GET", f"{CONFIGS}?watch=1&timeout={timeout}")).status == 200
    assert (await server.ask("GET", f"{CONFIGS}?timeout=-32s")).status == 200


async def test_a_request_that_takes_longer_than_its_timeout_is_given_up(server: Server) -> None:
    class Stuck(MemoryStorage):
        async def get(self, key: str) -> None:
            await asyncio.Event().wait()

    server.world.storage = Stuck()

    answer = await server.ask("GET", f"{CONFIGS}/c?timeout=1ms")

    assert (answer.status, json(answer)["reason"]) == (504, "Timeout")


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/example.com", "/version", "/", "/openapi/v3"])
async def test_what_describes_the_server_is_only_read(server: Server, path: str) -> None:
    assert (await server.ask("GET", path)).status == 200
    assert (await server.ask("POST", path)).status == 405


async def test_discovery_is_not_sent_again_to_who_has_it(server: Server) -> None:
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    first = await server.ask("GET", "/apis", accept=aggregated)
    (etag,) = header(first, "ETag")

    again = await server.ask("GET", "/apis", accept=aggregated, if_none_match=etag)

    assert (again.status, again.body) == (304, b"")
    assert header(first, "Cache-Control") == ["public"]
    assert (await server.ask("GET", "/api", accept="application/yaml")).body == (
        b"kind: APIVersions\nserverAddressByClientCIDRs:\n- clientCIDR: 0.0.0.0/0\n"
        b"  serverAddress: 127.0.0.1:6443\nversions:\n- v1\n"
    )


async def test_worlds_are_found_by_their_prefix() -> None:
    class Everywhere:
        async def __call__(self, path: str) -> Scoped:
            return Scoped(Scope("there"), path.removeprefix("/clusters/there"), "/services/cache/clusters/there")

    other = Server()
    server = Server(**{"/services/cache": Mount(other.world, Everywhere())})
    await server.store(CONFIGMAPS, "here")

    own = json(await server.ask("GET", CONFIGS))
    elsewhere = json(await server.ask("GET", f"/services/cache/clusters/there{CONFIGS}"))
    index = json(await server.ask("GET", "/services/cache/clusters/there/openapi/v3"))

    assert [len(found["items"]) for found in (own, elsewhere)] == [1, 0]
    assert index["paths"]["api/v1"]["serverRelativeURL"].startswith("/services/cache/clusters/there/openapi/v3/api/v1?")
    assert (await server.ask("GET", "/services/cachet")).status == 404


async def test_which_clusters_there_are_is_told_only_to_those_who_may_see_them() -> None:
    class Nowhere:
        async def __call__(self, path: str) -> Scoped:
            raise not_built("no such cluster")

    server = Server(**{"/kcp": Mount(Server().world, Nowhere())})

    refused = await server.ask("GET", "/kcp/clusters/x/version", user=None)

    assert (refused.status, json(refused)["message"]) == (
        403,
        'forbidden: User "system:anonymous" cannot get path "/clusters/x/version"',
    )
    assert (await server.ask("GET", "/kcp/clusters/x/version")).status == 501


async def test_lists_and_watches_say_which_store_they_show(server: Server) -> None:
    storage = server.world.storage
    said = f"{storage.identity} {storage.terms[0].name}@{storage.terms[0].since}"

    for path, accept in ((CONFIGS, "application/json"), (CONFIGS, METADATA_LIST), (f"{CONFIGS}?watch=true", "")):
        answer = await server.ask("GET", path, accept=accept)

        assert dict(answer.headers)["Kcpctl-Store"] == said
        if not isinstance(answer.body, bytes):
            await close(answer.body)


async def test_metrics_are_for_masters_and_only_where_there_are_any() -> None:
    server = Server()
    assert (await server.ask("GET", "/metrics")).status == 404
    app = ApiServer({"": Mount(server.world, Single())}, Authentication(), metrics=lambda: b"a 1\n")

    answer = await app(Incoming("GET", "/metrics", "", {}, b"", ROOT))

    assert (answer.status, answer.body) == (200, b"a 1\n")
    assert dict(answer.headers)["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    for user, status in ((None, 403), (User("bob"), 403), (ROOT, 405)):
        method = "GET" if status == 403 else "POST"
        assert (await app(Incoming(method, "/metrics", "", {}, b"", user))).status == status
    assert (await app(Incoming("GET", "/metrics/x", "", {}, b"", ROOT))).status == 404
    assert b"/metrics" in (await app(Incoming("GET", "/", "", {}, b"", ROOT))).body  # type: ignore[operator]
