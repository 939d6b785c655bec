import json

import pytest

from informers.api.decoding import Reader
from informers.api.errors import ApiError, ConfigurationError, DecodeError, Expired, NotFound
from informers.api.histories import Lineage
from informers.api.objects import Key
from informers.api.resources import Collection, Resource
from informers.client.addresses import Scope
from informers.client.bodies import PatchKind
from informers.client.server import Server
from tests.informers.client.servers import always, answer, connected

CONFIGS = Resource("", "v1", "configmaps", kind="ConfigMap")
TEAMS = Resource("example.com", "v1", "teams", kind="Team")
BOUND = Resource("example.com", "v1", "teams", identity="abc123")


class NoTransport:
    """Fails whoever sends something."""

    async def send(self, request):
        raise AssertionError(f"sent {request}")

    async def aclose(self):
        pass


def team(name="red", rv="7", **more):
    return {
        "apiVersion": "example.com/v1",
        "kind": "Team",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": rv},
        **more,
    }


def shown(body, **options):
    return always(answer(json.dumps(body).encode(), **options))


def status(code, reason, message="no"):
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message}
    return json.dumps({**body, "code": code}).encode()


async def sent(call, *, result=None, scope=Scope.PLAIN, **place):
    """Return the one request that the call makes, given a client."""
    async with connected(shown(result or team())) as (served, server):
        await call(Server("test", server.transport, scope=scope).client(**place))
    [asked] = served.asked
    return asked


async def test_get_asks_for_one_object_and_reads_it():
    async with connected(shown(team(spec={"size": 3}))) as (served, server):
        found = await server.client().get(TEAMS, "red", namespace="n1")

    assert served.asked[0].target == "/apis/example.com/v1/namespaces/n1/teams/red"
    assert served.asked[0].headers["accept"] == "application/json"
    assert served.asked[0].headers["user-agent"].startswith("kcpctl/")
    assert (found.name, found.rv, found.uid, found.at("spec", "size")) == ("red", "7", "uid-red", 3)


@pytest.mark.parametrize(
    ("scope", "place", "resource", "target"),
    [
        (Scope.PLAIN, {}, CONFIGS, "/api/v1/configmaps/x"),
        (Scope.ONE, {}, TEAMS, "/apis/example.com/v1/teams/x"),
        (Scope.ALL, {"cluster": "root:org"}, TEAMS, "/clusters/root:org/apis/example.com/v1/teams/x"),
        (Scope.ALL, {"cluster": "*"}, BOUND, "/clusters/*/apis/example.com/v1/teams:abc123/x"),
        (
            Scope.CACHE,
            {"cluster": "*", "shard": "amber"},
            TEAMS,
            "/services/cache/shards/amber/clusters/*/apis/example.com/v1/teams/x",
        ),
    ],
)
async def test_the_scope_says_where_a_logical_cluster_is_named(scope, place, resource, target):
    asked = await sent(lambda client: client.get(resource, "x"), scope=scope, **place)

    assert asked.target == target


async def test_names_cannot_leave_their_place_in_the_path():
    asked = await sent(lambda client: client.get(TEAMS, "../a?b#c", namespace="n/m"))

    assert asked.target == "/apis/example.com/v1/namespaces/n%2Fm/teams/..%2Fa%3Fb%23c"


@pytest.mark.parametrize(
    ("scope", "place", "message"),
    [
        (Scope.PLAIN, {"cluster": "root"}, "found one that has no logical clusters"),
        (Scope.ONE, {"cluster": "root"}, "found one that names one; use an address that ends in /clusters/\\*"),
        (Scope.ALL, {}, "expected the name of a logical cluster"),
        (Scope.ALL, {"cluster": "root", "shard": "amber"}, "expected a cache server"),
        (Scope.CACHE, {"cluster": "root"}, "expected the name of a shard"),
    ],
)
async def test_a_place_that_the_server_cannot_address_is_refused(scope, place, message):
    client = Server("test", NoTransport(), scope=scope).client(**place)

    with pytest.raises(ConfigurationError, match=message):
        await client.get(TEAMS, "x")


WRITES = [
    lambda client: client.create(TEAMS, team()),
    lambda client: client.update(TEAMS, team()),
    lambda client: client.patch(TEAMS, "red", {}),
    lambda client: client.apply(TEAMS, team(), manager="m"),
    lambda client: client.delete(TEAMS, "red"),
    lambda client: client.delete_collection(TEAMS),
    lambda client: client.raw("POST", "/apis"),
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("place", [{"cluster": "*", "shard": "amber"}, {"cluster": "root", "shard": "*"}])
async def test_writes_through_the_wildcard_are_refused_before_anything_is_sent(write, place):
    client = Server("test", NoTransport(), scope=Scope.CACHE).client(**place)

    with pytest.raises(ConfigurationError, match=r"expected one logical cluster to .* in, found '\*'"):
        await write(client)


async def test_create_sends_what_the_body_leaves_open_from_the_resource():
    asked = await sent(lambda client: client.create(TEAMS, {"metadata": {"name": "red", "namespace": "n1"}}))

    assert (asked.method, asked.target) == ("POST", "/apis/example.com/v1/namespaces/n1/teams")
    assert asked.headers["content-type"] == "application/json"
    assert json.loads(asked.body) == {
        "apiVersion": "example.com/v1",
        "kind": "Team",
        "metadata": {"name": "red", "namespace": "n1"},
    }


async def test_update_puts_an_object_as_it_was_read():
    obj = Reader(TEAMS).object(json.dumps(team(status={"ready": True})).encode())

    asked = await sent(lambda client: client.update(TEAMS, obj, subresource="status", dry_run=True))

    assert (asked.method, asked.target) == ("PUT", "/apis/example.com/v1/teams/red/status?dryRun=All")
    assert json.loads(asked.body) == team(status={"ready": True})


@pytest.mark.parametrize(
    ("kind", "patch", "media"),
    [
        (PatchKind.MERGE, {"status": {"a": None}}, "application/merge-patch+json"),
        (PatchKind.JSON, [{"op": "remove", "path": "/spec"}], "application/json-patch+json"),
        (PatchKind.STRATEGIC, {"data": {"a": "b"}}, "application/strategic-merge-patch+json"),
    ],
)
async def test_each_kind_of_patch_has_its_media_type(kind, patch, media):
    asked = await sent(lambda client: client.patch(TEAMS, "red", patch, kind=kind, subresource="status"))

    assert (asked.method, asked.target) == ("PATCH", "/apis/example.com/v1/teams/red/status")
    assert asked.headers["content-type"] == media
    assert json.loads(asked.body) == patch


@pytest.mark.parametrize(("force", "written"), [(False, "false"), (True, "true")])
async def test_apply_names_its_manager_and_writes_force_out(force, written):
    obj = team()
    obj["metadata"]["managedFields"] = [{"manager": "other"}]

    asked = await sent(lambda client: client.apply(TEAMS, obj, manager="me & you", force=force))

    assert asked.method == "PATCH"
    assert asked.target == f"/apis/example.com/v1/teams/red?fieldManager=me%20%26%20you&force={written}"
    assert asked.headers["content-type"] == "application/apply-patch+yaml"
    assert json.loads(asked.body) == team()


async def test_apply_without_a_kind_is_refused_with_what_to_do():
    client = Server("test", NoTransport()).client()

    with pytest.raises(ConfigurationError, match="set it in the body or the Resource"):
        await client.apply(BOUND, {"metadata": {"name": "red"}}, manager="m")


async def test_delete_carries_its_preconditions():
    asked = await sent(
        lambda client: client.delete(TEAMS, "red", uid="u1", rv="7", propagation="Foreground"),
        result={"kind": "Status", "apiVersion": "v1", "status": "Success"},
    )

    assert (asked.method, asked.target) == ("DELETE", "/apis/example.com/v1/teams/red")
    assert json.loads(asked.body) == {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "preconditions": {"uid": "u1", "resourceVersion": "7"},
        "propagationPolicy": "Foreground",
    }


async def test_delete_returns_the_object_while_finalizers_hold_it():
    held = team(rv="9")
    held["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    async with connected(shown(held)) as (_served, server):
        found = await server.client().delete(TEAMS, "red")

    assert found is not None
    assert (found.deleting, found.rv) == (True, "9")


async def test_delete_collection_chooses_by_selectors():
    asked = await sent(
        lambda client: client.delete_collection(TEAMS, namespace="n1", selector="a=b,c"), result={"kind": "TeamList"}
    )

    assert asked.target == "/apis/example.com/v1/namespaces/n1/teams?labelSelector=a%3Db%2Cc"


async def test_accepted_writes_are_noted_and_dry_runs_and_refusals_are_not():
    noted = []
    async with connected(shown(team(rv="8"))) as (_served, server):
        client = server.client().noting(noted.append)
        await client.patch(TEAMS, "red", {}, subresource="status")
        await client.create(TEAMS, team(), dry_run=True)
        await client.get(TEAMS, "red")
    async with connected(always(answer(status(409, "Conflict"), status=409))) as (_served, server):
        with pytest.raises(ApiError):
            await server.client().noting(noted.append).update(TEAMS, team())

    [write] = noted
    assert (write.resource, write.key, write.rv, write.uid, write.verb) == (
        TEAMS,
        Key(name="red"),
        "8",
        "uid-red",
        "patch",
    )


async def test_a_refusal_is_the_typed_error_of_its_status():
    async with connected(always(answer(status(404, "NotFound", "teams red not found"), status=404))) as (
        _served,
        server,
    ):
        with pytest.raises(NotFound, match="teams red not found"):
            await server.client().get(TEAMS, "red")


async def test_a_good_answer_that_is_no_json_says_what_came():
    page = answer(b"<html>\n<title>Sign in</title>", kind="text/html; charset=utf-8")
    async with connected(always(page)) as (_served, server):
        for call in (server.client().get(TEAMS, "red"), server.client().list(TEAMS)):
            with pytest.raises(DecodeError, match=r"expected JSON from GET .*, found text/html.*<title>Sign in"):
                await call


async def test_a_redirect_is_a_failure_that_names_its_target():
    async with connected(always(answer(b"", status=302, Location="https://sso.example.com"))) as (_served, server):
        with pytest.raises(ApiError, match=r"redirected to https://sso\.example\.com, which is not followed"):
            await server.client().get(TEAMS, "red")


def pages_of(*pages):
    """Answer list requests page by page: continue token → page, or an error's body."""
    found = dict(pages)

    async def handler(asked, writer):
        token = asked.target.partition("continue=")[2].partition("&")[0]
        turn = found[token]
        page = turn.pop(0) if len(turn) > 1 else turn[0]
        code = page.get("code", 200)
        writer.write(answer(json.dumps(page).encode(), status=code))

    return handler


def page_of(*names, continue_=""):
    meta = {"resourceVersion": "40", **({"continue": continue_} if continue_ else {})}
    return {"kind": "TeamList", "metadata": meta, "items": [team(name) for name in names]}


EXPIRED = {"kind": "Status", "reason": "Expired", "message": "too old", "code": 410}


async def test_a_list_gathers_all_pages():
    handler = pages_of(("", [page_of("a", "b", continue_="t1")]), ("t1", [page_of("c")]))
    async with connected(handler) as (served, server):
        found = await server.client().list(TEAMS, selector="x=y", limit=2)

    assert [obj.name for obj in found] == ["a", "b", "c"]
    assert [asked.target.partition("?")[2] for asked in served.asked] == [
        "labelSelector=x%3Dy&limit=2",
        "labelSelector=x%3Dy&limit=2&continue=t1",
    ]


async def test_a_list_that_expires_on_the_way_starts_again_once():
    handler = pages_of(("", [page_of("a", continue_="t1"), page_of("a", "b")]), ("t1", [EXPIRED]))
    async with connected(handler) as (_served, server):
        found = await server.client().list(TEAMS)

    assert [obj.name for obj in found] == ["a", "b"]


async def test_a_list_that_expires_twice_is_expired():
    handler = pages_of(("", [page_of("a", continue_="t1")]), ("t1", [EXPIRED]))
    async with connected(handler) as (served, server):
        with pytest.raises(Expired):
            await server.client().list(TEAMS)

        assert len(served.asked) == 4


async def test_a_list_does_not_hide_an_object_that_cannot_be_read():
    page = page_of("a")
    page["items"].append({"metadata": {"name": "b", "generation": "many"}})
    async with connected(shown(page)) as (_served, server):
        with pytest.raises(DecodeError, match="expected teams only, found b"):
            await server.client().list(TEAMS)
        [found] = [page async for page in server.client().pages(TEAMS)]

    assert [obj.name for obj in found.objects] == ["a"]
    assert [malformed.key.name for malformed in found.malformed] == ["b"]


async def test_one_page_is_asked_for_by_the_collection_and_is_never_asked_for_twice():
    busy = answer(status(429, "TooManyRequests"), status=429, Retry_After="1")
    collection = Collection(TEAMS, "*", "", "n1", "a=b", "metadata.name=x")
    async with connected(always(busy), path="/clusters/*") as (served, server):
        with pytest.raises(ApiError) as refused:
            await server.client().list_page(collection, reader=Reader(TEAMS), limit=5, rv="0", match="NotOlderThan")

    [asked] = served.asked
    assert refused.value.retry_after == 1.0
    assert asked.target == (
        "/clusters/*/apis/example.com/v1/namespaces/n1/teams?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx"
        "&limit=5&resourceVersion=0&resourceVersionMatch=NotOlderThan"
    )


async def test_a_continue_token_goes_without_a_revision():
    async with connected(shown(page_of("a"))) as (served, server):
        await server.client().list_page(
            Collection(TEAMS), reader=Reader(TEAMS), limit=5, continue_="t 1", rv="7", match="Exact"
        )

    assert served.asked[0].target == "/apis/example.com/v1/teams?limit=5&continue=t%201"


async def test_lists_and_watches_tell_which_store_answered_and_refusals_do_not():
    shown_by = answer(json.dumps(page_of("a")).encode(), Kcpctl_Store="store term@7")
    refused = answer(status(410, "Expired"), status=410, Kcpctl_Store="store term@7")
    told: list[Lineage] = []
    async with connected(always(shown_by)) as (_served, server):
        await server.client().list_page(Collection(TEAMS), reader=Reader(TEAMS), told=told.append)
        async with server.client().watch_batches(Collection(TEAMS), reader=Reader(TEAMS), told=told.append):
            pass
    async with connected(always(refused)) as (_served, server):
        with pytest.raises(Expired):
            await server.client().list_page(Collection(TEAMS), reader=Reader(TEAMS), told=told.append)

    assert told == [Lineage("store", (("term", 7),))] * 2


async def test_a_server_that_says_nothing_of_its_store_is_told_too():
    told: list[Lineage] = []
    async with connected(shown(page_of("a"))) as (_served, server):
        await server.client().list_page(Collection(TEAMS), reader=Reader(TEAMS), told=told.append)

    assert told == [Lineage()]


async def test_metadata_alone_is_asked_for_by_its_media_type():
    async with connected(shown(page_of("a"))) as (served, server):
        await server.client().list_page(Collection(TEAMS), reader=Reader(TEAMS), metadata_only=True)

    assert served.asked[0].headers["accept"] == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


async def test_raw_reaches_whatever_the_server_serves():
    asked = await sent(
        lambda client: client.raw("POST", "/apis/x?a=b", b"{}", media="application/yaml"), scope=Scope.ALL, cluster="c1"
    )

    assert (asked.method, asked.target, asked.headers["content-type"]) == (
        "POST",
        "/clusters/c1/apis/x?a=b",
        "application/yaml",
    )


@pytest.mark.parametrize("name", ["", ".", ".."])
@pytest.mark.parametrize(
    "call",
    [
        lambda client, name: client.get(CONFIGS, name, namespace="n1"),
        lambda client, name: client.patch(CONFIGS, name, {}, namespace="n1"),
        lambda client, name: client.delete(CONFIGS, name, namespace="n1"),
    ],
)
async def test_a_name_that_would_address_the_whole_collection_is_refused_before_anything_is_sent(call, name):
    client = Server("test", NoTransport()).client()

    with pytest.raises(ConfigurationError, match=r"expected (the name of one of configmaps|a name to put into a path)"):
        await call(client, name)


@pytest.mark.parametrize("place", [{"cluster": ".."}, {"cluster": "c1", "shard": ".."}])
async def test_no_name_leads_out_of_its_place_on_the_server(place):
    client = Server("test", NoTransport(), scope=Scope.CACHE).client(**{"shard": "amber", **place})

    with pytest.raises(ConfigurationError, match=r"found '\.\.'"):
        await client.list(TEAMS)
    with pytest.raises(ConfigurationError, match=r"found '\.\.'"):
        await Server("test", NoTransport()).client().list(TEAMS, namespace="..")
