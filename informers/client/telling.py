"""A transport that says which store each good answer came from."""

from informers.api.histories import STORE, Told, read_lineage
from informers.client.transport import Request, Response, Transport


class Telling:
    """Implements `Transport` around another one, which it leaves as it is."""

    def __init__(self, inner: Transport, told: Told) -> None:
        """Send through `inner`; `told` learns what the headers of good answers say."""
        self._inner = inner
        self._told = told

    async def send(self, request: Request) -> Response:
        """Return the answer once its headers are there, and have been looked at."""
        response = await self._inner.send(request)
        if 200 <= response.status < 300:
            self._told(read_lineage(response.headers.get(STORE, "")))
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()
