import json

import pytest

from informers.api import errors
from informers.api.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Expired,
    InformersError,
    NotFound,
    Timeout,
    TooLargeResourceVersion,
    TransportError,
    api_error,
    error_from_answer,
    is_kind,
)
from informers.api.status import Cause, Status, StatusDetails
from kcpctl.apiserver.http import statuses
from tests.golden import pairs

CODES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
    418: "ApiError",
    502: "ApiError",
}


@pytest.mark.parametrize(("code", "name"), CODES.items())
def test_each_code_has_its_error(code, name):
    assert type(api_error(Status(code=code))) is getattr(errors, name)


def test_a_name_that_is_taken_is_told_from_a_conflict():
    assert type(api_error(Status(code=409, reason="AlreadyExists"))) is AlreadyExists
    assert type(api_error(Status(code=409, reason="Conflict"))) is Conflict
    assert issubclass(AlreadyExists, Conflict)


@pytest.mark.parametrize(
    "status",
    [
        Status(code=504, details=StatusDetails(causes=[Cause(reason="ResourceVersionTooLarge")])),
        Status(code=504, details=StatusDetails(causes=[Cause(message="Too large resource version")])),
        Status(code=504, message="Timeout: Too large resource version: 9, current: 5"),
    ],
)
def test_a_revision_ahead_of_the_server_is_told_from_other_timeouts(status):
    """By its cause, and by its message where servers are older than 1.19."""
    assert type(api_error(status)) is TooLargeResourceVersion
    assert type(api_error(Status(code=504, message="etcd is slow"))) is Timeout
    assert type(api_error(Status(code=500, message=status.message, details=status.details))) is errors.InternalError


@pytest.mark.parametrize("code", [409, 429, 500, 504])
@pytest.mark.parametrize("reason", ["", "AlreadyExists"])
def test_the_wait_that_a_server_asks_for_is_kept(code, reason):
    """In a watch there is no header, so that the Status must do; where there is one, it counts."""
    status = Status(code=code, reason=reason, message="Too large resource version", details=_wait(3))

    assert api_error(status).retry_after == 3
    assert api_error(status, retry_after=1).retry_after == 1
    assert api_error(Status(code=code)).retry_after is None


def _wait(seconds):
    return StatusDetails(retry_after_seconds=seconds)


def test_an_error_says_what_the_server_said():
    body = {"kind": "Status", "message": 'teams "red" not found', "reason": "NotFound", "code": 404}

    error = error_from_answer(404, json.dumps(body).encode())

    assert (type(error), str(error), error.reason) == (NotFound, 'teams "red" not found', "NotFound")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"404 page not found\n", "404 page not found"),
        (b"<html>\n<body>", "<html>"),
        (b'{"error": "invalid_grant"}', '{"error": "invalid_grant"}'),
        (b"[1, 2]", "[1, 2]"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"", "HTTP 404 without a body"),
        (b" \n ", "HTTP 404 without a body"),
    ],
)
def test_a_body_that_is_no_status_becomes_the_message(body, message):
    error = error_from_answer(404, body)

    assert (type(error), str(error)) == (NotFound, message)


def test_the_code_of_the_answer_counts_and_not_that_of_its_body():
    assert type(error_from_answer(410, b'{"message": "no", "code": 404}')) is Expired


@pytest.mark.parametrize("recording", ["c-cache-server.jsonl", "b-slice-lifecycle.jsonl", "a-discovery.jsonl"])
def test_recorded_failures_come_out_as_they_went_in(recording):
    seen = 0
    for pair in pairs("kcp", recording):
        found = pair.get("resp") or {}
        body = found.get("body")
        if isinstance(body, dict) and body.get("kind") == "Status" and found["status"] >= 400:
            error = error_from_answer(found["status"], json.dumps(body).encode())
            assert (str(error), error.reason) == (body["message"], body.get("reason", ""))
            assert json.loads(statuses.encode(error.status)) == body
            seen += 1
    assert seen


def test_groups_are_of_a_kind_when_all_in_them_are():
    first, second = NotFound(Status()), Conflict(Status())

    assert is_kind(first, ApiError, TransportError)
    assert is_kind(ExceptionGroup("", [first, ExceptionGroup("", [second])]), ApiError)
    assert not is_kind(ExceptionGroup("", [first, ValueError()]), ApiError)


def test_every_error_is_one_of_ours():
    raised = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, Exception)]

    assert all(issubclass(cls, InformersError) for cls in raised)
