"""A network that a test controls: a transport around another one that refuses, cuts, holds and answers by itself."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from multidict import CIMultiDict, MultiMapping

from informers.api.errors import ConnectionRefused, Disconnected
from informers.client.transport import Request, Response, Transport

Match = Callable[[Request], bool]


def anything(_: Request) -> bool:
    """Match every request."""
    return True


def watches(plural: str = "") -> Match:
    """Match watches, of that collection if one is named."""
    return lambda request: request.watch and _is_of(request, plural)


def lists(plural: str = "") -> Match:
    """Match lists, of that collection if one is named."""
    return lambda request: request.method == "GET" and not request.watch and _is_of(request, plural)


def writes(plural: str = "") -> Match:
    """Match writes, to that collection if one is named."""
    return lambda request: request.method != "GET" and _is_of(request, plural)


def _is_of(request: Request, plural: str) -> bool:
    return not plural or plural in request.target.partition("?")[0].split("/")


@dataclass
class Fault:
    """What happens to the next `left` requests that match, in place of being carried."""

    match: Match
    happen: Callable[[Request], Response]
    """Returns the answer, or raises."""
    left: int


class Gate:
    """One request that is held up where a test wants it."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.reached = asyncio.Event()
        """Set once the request is there."""
        self._opened = asyncio.Event()

    def open(self) -> None:
        """Let it go on."""
        self._opened.set()

    async def pass_through(self) -> None:
        """Wait until the test lets it go on."""
        self.reached.set()
        await self._opened.wait()


class Network:
    """Carries requests and answers as they are, until a test asks for something else; implements `Transport`."""

    def __init__(self, inner: Transport) -> None:
        self.requests: list[Request] = []
        """Every request, also those that were refused."""
        self._inner = inner
        self._is_away = False
        self._faults: list[Fault] = []
        self._gates: list[Gate] = []
        self._open: list[Carried] = []
        self._flow = asyncio.Event()
        self._flow.set()

    # What a test may ask for

    async def go_away(self) -> None:
        """Break off every answer, and refuse every request from now on."""
        self._is_away = True
        await self.cut()

    def come_back(self) -> None:
        """Carry requests again."""
        self._is_away = False

    async def cut(self, match: Match = anything) -> None:
        """Break off the answers that are under way, between two chunks."""
        for carried in [carried for carried in self._open if match(carried.request)]:
            await carried.cut()

    def tear(self, match: Match = anything) -> None:
        """Let half of the next chunk arrive of each answer that is under way, and break it off there."""
        for carried in self._open:
            carried.is_torn |= match(carried.request)

    def hold(self) -> None:
        """Let nothing through, as a network does that has gone silent."""
        self._flow.clear()

    def release(self) -> None:
        """Let everything through that was held."""
        self._flow.set()

    def hold_next(self, match: Match = anything) -> Gate:
        """Hold up the next request that matches, before it reaches the server."""
        self._gates.append(Gate(match))
        return self._gates[-1]

    def refuse(self, match: Match = anything, *, times: int = 1) -> None:
        """Refuse the next requests that match."""
        self._faults.append(Fault(match, _refused, times))

    def answer(
        self, status: int, reason: str, match: Match = anything, *, times: int = 1, retry_after: int | None = None
    ) -> None:
        """Answer the next requests that match with a Status of that code and reason."""
        headers = {"content-type": "application/json"} | ({"retry-after": str(retry_after)} if retry_after else {})
        body = json.dumps(_status(status, reason)).encode()
        self._faults.append(Fault(match, lambda _: Scripted(status, headers, [body]), times))

    def stream_error(self, code: int, reason: str, match: Match, *, times: int = 1) -> None:
        """Accept the next watches that match, and end each with an ERROR event."""
        line = json.dumps({"type": "ERROR", "object": _status(code, reason)}).encode() + b"\n"
        headers = {"content-type": "application/json"}
        self._faults.append(Fault(match, lambda _: Scripted(200, headers, [line]), times))

    def is_clean(self) -> bool:
        """Say whether every fault that was asked for has happened."""
        return not any(fault.left for fault in self._faults)

    # Transport

    async def send(self, request: Request) -> Response:
        """Carry the request, unless the test asked for something else."""
        self.requests.append(request)
        if self._is_away:
            raise _refusal(request)
        await self._flow.wait()
        for gate in [gate for gate in self._gates if gate.match(request)][:1]:
            self._gates.remove(gate)
            await gate.pass_through()
        for fault in self._faults:
            if fault.left and fault.match(request):
                fault.left -= 1
                return fault.happen(request)
        return self._carried(request, await self._inner.send(request))

    async def aclose(self) -> None:
        """Close what carries."""
        await self._inner.aclose()

    def _carried(self, request: Request, response: Response) -> Response:
        carried = Carried(request, response, self._flow, self._open.remove)
        self._open.append(carried)
        return carried


class Carried:
    """An answer on its way."""

    def __init__(
        self, request: Request, inner: Response, flow: asyncio.Event, ended: Callable[["Carried"], None]
    ) -> None:
        self.request = request
        self.status = inner.status
        self.headers = inner.headers
        self.is_torn = False
        self._inner = inner
        self._flow = flow
        self._ended: Callable[[Carried], None] | None = ended
        self._is_cut = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what arrives."""
        async for chunk in self._inner.chunks():
            await self._flow.wait()
            if self.is_torn:
                yield chunk[: len(chunk) // 2]
                break
            yield chunk
        if self.is_torn or self._is_cut:
            await self.aclose()
            raise Disconnected(f"the answer to {self.request.target} broke off")

    async def cut(self) -> None:
        """Break it off."""
        self._is_cut = True
        await self._inner.aclose()

    async def aclose(self) -> None:
        """Let it go."""
        if self._ended is not None:
            self._ended(self)
            self._ended = None
        await self._inner.aclose()


class Scripted:
    """An answer that no server has given."""

    def __init__(self, status: int, headers: dict[str, str], chunks: Sequence[bytes]) -> None:
        self.status = status
        self.headers: MultiMapping[str] = CIMultiDict(headers)
        self._chunks = chunks

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what the test wrote."""
        for chunk in self._chunks:
            yield chunk

    async def aclose(self) -> None:
        """Have nothing to let go."""


def _status(code: int, reason: str) -> dict[str, object]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": reason,
    }


def _refusal(request: Request) -> ConnectionRefused:
    return ConnectionRefused(f"expected a server for {request.method} {request.target}, found none")


def _refused(request: Request) -> Response:
    raise _refusal(request)
