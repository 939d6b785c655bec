"""What may be wrong with a request, where the server only says that it knows no such path."""

from types import TracebackType
from typing import Any

import msgspec

from informers.api.errors import ApiError, MethodNotAllowed, NotFound, api_error
from informers.api.resources import Resource


class explaining:  # noqa: N801 - used as a function; a generator would cost each call more than the rest of its frame
    """Raise the errors of the block, those that are about the path itself with what was sent and what may be wrong."""

    __slots__ = ("_method", "_resource", "_target")

    def __init__(self, resource: Resource[Any], method: str, target: str) -> None:
        """Take what is sent in the block."""
        self._resource = resource
        self._method = method
        self._target = target

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Explain the error, where it is about the path."""
        if isinstance(error, NotFound | MethodNotAllowed) and _is_about_path(error):
            path = self._target.partition("?")[0]
            message = f"{error}; {self._method} {path} {_guess(self._resource, path)}"
            status = msgspec.structs.replace(error.status, message=message)
            raise api_error(status, retry_after=error.retry_after) from error


def _is_about_path(error: ApiError) -> bool:
    """Say whether there is no such path: an object that is not there is named, and so is a missing namespace."""
    details = error.status.details
    return details is None or not details.name


def _guess(resource: Resource[Any], path: str) -> str:
    if resource.plural == "namespaces" or resource.namespaced is False:
        return f"finds nothing where {resource.qualified} has no version {resource.version}"
    if path.startswith(f"{resource.path}/namespaces/"):
        return f"finds nothing where {resource.qualified} has no version {resource.version}, or no namespaces"
    if resource.namespaced:
        return f"names no namespace, which {resource.qualified} needs: pass namespace=…"
    return f"names no namespace: where {resource.qualified} has them, pass namespace=…"
