"""What servers warn of in the headers of their answers: deprecated versions, misspelt fields."""

import re
from collections.abc import Callable, Iterator

from multidict import MultiMapping

from informers.client.records import WarningReceived
from informers.client.transport import Request, Response, Transport

_VALUE = re.compile(r'\s*(\d{3}) \S+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?\s*(?:,|$)')
"""A warning of RFC 7234 §5.5: code, agent, quoted text and maybe a date; several may share a header."""
_KUBERNETES = "299"
"""The one code that Kubernetes servers use; caches on the way have others, of no interest here."""
_ESCAPED = re.compile(r"\\(.)")


def warnings_in(headers: MultiMapping[str]) -> Iterator[str]:
    """Yield the texts of the Warning headers; what cannot be read as one is left out."""
    for header in headers.getall("Warning", ()):
        for code, quoted in _VALUE.findall(header):
            text = _printable(_ESCAPED.sub(r"\1", quoted))
            if code == _KUBERNETES and text:
                yield text


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text).strip()


class Heeding:
    """A transport that tells of the warnings in every answer, good or bad; closing it stays the inner one's owner's."""

    def __init__(self, inner: Transport, server: str, told: Callable[[WarningReceived], None]) -> None:
        """Send through the inner transport; `server` is the name for the records."""
        self._inner = inner
        self._server = server
        self._told = told

    async def send(self, request: Request) -> Response:
        """Return the answer, as the inner transport does."""
        response = await self._inner.send(request)
        for text in warnings_in(response.headers):
            self._told(WarningReceived(self._server, request.method, request.target, text))
        return response

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()
