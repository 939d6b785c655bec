"""Paths that a server does not know: the error says what was sent, and what may be missing."""

import json

import pytest

from informers.api.errors import MethodNotAllowed, NotFound
from informers.api.resources import Resource
from tests.informers.client.servers import always, answer, connected

TEAMS = Resource("example.com", "v1", "teams")
NAMESPACES = Resource("", "v1", "namespaces", namespaced=False)


def refusing(code, **status):
    body = {"kind": "Status", "status": "Failure", "code": code, "message": "no", **status}
    return always(answer(json.dumps(body).encode(), status=code))


async def message_of(handler, kind, call):
    async with connected(handler) as (served, server):
        with pytest.raises(kind) as caught:
            await call(server.client())
    assert len(served.asked) == 1
    return str(caught.value)


async def test_a_write_without_a_namespace_that_the_server_does_not_allow_says_what_was_sent_and_what_is_missing():
    found = await message_of(
        refusing(405, reason="MethodNotAllowed", details={}),
        MethodNotAllowed,
        lambda client: client.create(TEAMS, {"metadata": {"name": "red"}}, dry_run=True),
    )

    assert found == (
        "no; POST /apis/example.com/v1/teams names no namespace: where teams.example.com has them, pass namespace=…"
    )


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("GET", lambda client: client.get(TEAMS, "red")),
        ("PUT", lambda client: client.update(TEAMS, {"metadata": {"name": "red"}})),
        ("PATCH", lambda client: client.patch(TEAMS, "red", {})),
        ("PATCH", lambda client: client.apply(TEAMS, {"kind": "Team", "metadata": {"name": "red"}}, manager="m")),
        ("DELETE", lambda client: client.delete(TEAMS, "red")),
    ],
)
async def test_every_verb_explains_a_path_that_is_not_there(method, call):
    found = await message_of(always(answer(b"404 page not found\n", status=404)), NotFound, call)

    assert found.startswith(f"404 page not found; {method} /apis/example.com/v1/teams/red names no namespace")


async def test_a_namespace_may_be_one_too_many():
    found = await message_of(
        always(answer(b"404 page not found\n", status=404)),
        NotFound,
        lambda client: client.get(TEAMS, "red", namespace="n1"),
    )

    assert "where teams.example.com has no version v1, or no namespaces" in found


@pytest.mark.parametrize(
    ("resource", "details"),
    [(TEAMS, {"name": "red", "kind": "teams"}), (NAMESPACES, {"name": "red", "kind": "namespaces"})],
)
async def test_an_object_that_is_not_there_needs_no_explanation(resource, details):
    found = await message_of(
        refusing(404, reason="NotFound", details=details), NotFound, lambda client: client.get(resource, "red")
    )

    assert found == "no"
