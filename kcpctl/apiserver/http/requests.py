"""Requests as they come off a socket."""

from aiohttp.web_request import BaseRequest

from kcpctl.apiserver.exchange import Incoming, User
from kcpctl.apiserver.http.auth import user_of_subject
from kcpctl.apiserver.writing.decoding import LARGEST_BODY


def incoming(request: BaseRequest, body: bytes) -> Incoming:
    """Return the request as the application takes it."""
    path, _, query = request.raw_path.partition("?")
    if not path.startswith("/"):  # absolute form, as proxies send it
        path = "/" + path.partition("://")[2].partition("/")[2]
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        headers.setdefault(name.lower(), value)  # of a repeated one the first counts, as in Go
    return Incoming(request.method, path, query, headers, body, _peer(request))


def _peer(request: BaseRequest) -> User | None:
    certificate = request.transport.get_extra_info("peercert") if request.transport is not None else None
    return user_of_subject(certificate["subject"]) if certificate else None


async def read_body(request: BaseRequest) -> bytes:
    """Return the body; of one that is over the limit only as much as shows that it is."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    parts: list[bytes] = []
    size = 0
    while size <= LARGEST_BODY and (part := await request.content.readany()):
        size += len(part)
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
