"""What may be wrong with a request, where the server only says that it knows no such path."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from informers.api.errors import ApiError, MethodNotAllowed, NotFound, api_error
from informers.api.resources import Resource


@contextmanager
def explaining(resource: Resource[Any], method: str, target: str) -> Iterator[None]:
    """Raise the errors of the block, those that are about the path itself with what was sent and what may be wrong."""
    try:
        yield
    except (NotFound, MethodNotAllowed) as error:
        if not _is_about_path(error):
            raise
        path = target.partition("?")[0]
        message = f"{error}; {method} {path} {_guess(resource, path)}"
        hinted = api_error(msgspec.structs.replace(error.status, message=message), retry_after=error.retry_after)
        raise hinted from error


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
