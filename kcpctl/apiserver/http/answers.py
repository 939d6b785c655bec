"""Answers: bodies, failures and texts with the headers that each carries."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from random import getrandbits

from informers.api.histories import STORE
from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import Answer
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http import encoding, statuses
from kcpctl.apiserver.http.health import TEXT
from kcpctl.apiserver.http.negotiation import Form, plain_form
from kcpctl.apiserver.storage.base import Storage, Term

_JSON = (("Content-Type", "application/json"),)
_YAML = (("Content-Type", "application/yaml"),)
_NOSNIFF = ("X-Content-Type-Options", "nosniff")
_AUDIT_ID = "Audit-Id"
_UNCACHED = (("Cache-Control", "no-cache, private"),)


def content_type(form: Form) -> tuple[tuple[str, str], ...]:
    """Return the header that names the form's media type."""
    return _JSON if form.media == "application/json" else _YAML


def store(storage: Storage) -> tuple[tuple[str, str], ...]:
    """Return the header that says which store a list or watch shows, and what its history is made of."""
    return _store(storage.identity, storage.terms)


@lru_cache(maxsize=16)
def _store(identity: str, terms: tuple[Term, ...]) -> tuple[tuple[str, str], ...]:
    return ((STORE, " ".join([identity, *(f"{term.name}@{term.since}" for term in terms)])),)


def document(body: bytes, form: Form, status: int = 200) -> Answer:
    """Answer with a JSON document in the form that the client wants."""
    return Answer(status, content_type(form), encoding.written(body, form))


def failed(failure: Failure, headers: Mapping[str, str], query: Query) -> Answer:
    """Answer with a Status, or with plain text where kube-apiserver does."""
    code = failure.status.code
    if failure.text is not None:
        return Answer(code, TEXT, failure.text.encode())
    form = plain_form(headers, query)
    extra: tuple[tuple[str, str], ...] = ()
    if code == 403:
        extra = (_NOSNIFF,)
    seconds = statuses.retry_after(failure)
    if seconds:
        extra += (("Retry-After", str(seconds)),)
    return Answer(code, content_type(form) + extra, encoding.written(statuses.encode(failure.status), form))


def finished(answer: Answer, headers: Mapping[str, str]) -> Answer:
    """Add what every answer carries: an Audit-Id (the client's own, if it sent one) and that nobody may cache it."""
    common: tuple[tuple[str, str], ...] = ((_AUDIT_ID, headers.get("audit-id") or _new_id()),)
    if not any(name == "Cache-Control" for name, _ in answer.headers):
        common += _UNCACHED
    return Answer(answer.status, common + answer.headers, answer.body, answer.live)


def _new_id() -> str:
    """Return a UUID; it is no secret, and asking the kernel for randomness would cost as much as the lookup."""
    digits = f"{getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def warning_headers(warnings: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return a Warning header for each text, at most 100 of them and 4 KiB in all."""
    headers: list[tuple[str, str]] = []
    size = 0
    for text in dict.fromkeys(warnings):
        value = f'299 - "{_quoted(text)}"'
        size += len(value)
        if len(headers) == 100 or size > 4096:
            break
        headers.append(("Warning", value))
    return tuple(headers)


def _quoted(text: str) -> str:
    """Escape a text for a quoted string; what cannot stand in a header becomes a space."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"')
