"""From a transport's response to a JSON body, or to the error that says why there is none."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import msgspec
from multidict import MultiMapping

from informers.api.errors import DecodeError, api_error, error_from_answer
from informers.api.status import Status
from informers.client.transport import Request, Response, Transport

R = TypeVar("R")

_JSON = "application/json"
_SHOWN = 400
_ERROR_LIMIT = 2**20


class _Kind(msgspec.Struct):
    kind: str = ""


_decode_kind = msgspec.json.Decoder(_Kind).decode


@asynccontextmanager
async def opened(transport: Transport, request: Request) -> AsyncIterator[Response]:
    """Send the request, and hold the response open for the block, once it is known to bring JSON.

    Raises `ApiError` on any status but 2xx (a redirect is a failure too: none is followed), `DecodeError` when a good
    answer is no JSON, and what `Transport.send` raises.
    """
    response = await transport.send(request)
    try:
        await _check(request, response)
        yield response
    finally:
        await response.aclose()


async def fetch(transport: Transport, request: Request, read: Callable[[Response], Awaitable[R]]) -> R:
    """Return what `read` makes of a good answer; raises as `opened` does, and what `read` raises."""
    response = await transport.send(request)
    try:
        await _check(request, response)
        return await read(response)
    finally:
        await response.aclose()


async def whole(response: Response) -> bytes:
    """Read the body to its end."""
    pieces = [chunk async for chunk in response.chunks()]
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def is_status(body: bytes) -> bool:
    """Say whether a good answer is a Status, where it could have been an object."""
    try:
        return _decode_kind(body).kind == "Status"
    except msgspec.DecodeError:
        return False  # whoever reads it as an object says better what is wrong


async def _check(request: Request, response: Response) -> None:
    """Raise what is to be said against an answer that is not good."""
    if not 200 <= response.status < 300:
        raise await _refusal(request, response)
    kind = response.headers.get("Content-Type", _JSON)
    if kind != _JSON and kind.partition(";")[0].strip().lower() != _JSON:
        start = await _beginning(response, _SHOWN)
        raise DecodeError(
            f"expected JSON from {request.method} {request.target}, found {kind}: {_one_line(start)}; "
            "is the address that of an API server?"
        )


async def _refusal(request: Request, response: Response) -> Exception:
    if 300 <= response.status < 400:
        where = response.headers.get("Location", "nowhere")
        message = (
            f"{request.method} {request.target} was redirected to {where}, which is not followed; use that address"
        )
        return api_error(Status(message=message, code=response.status))
    body = await _beginning(response, _ERROR_LIMIT)
    return error_from_answer(response.status, body, retry_after=_retry_after(response.headers))


async def _beginning(response: Response, limit: int) -> bytes:
    """Read until there are `limit` bytes or more, or no more."""
    found = bytearray()
    async for chunk in response.chunks():
        found += chunk
        if len(found) >= limit:
            break
    return bytes(found)


def _retry_after(headers: MultiMapping[str]) -> float | None:
    """Return the seconds that Retry-After names; API servers send no dates there."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _one_line(raw: bytes) -> str:
    text = " ".join(raw[:_SHOWN].decode("utf-8", "replace").split())
    return repr(text[:80]) + ("…" if len(text) > 80 else "")
