"""Health: `/healthz`, `/livez` and `/readyz`, each a list of named checks."""

from collections.abc import Callable, Mapping, Sequence

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import Answer
from kcpctl.apiserver.failures import path_not_found

Check = Callable[[], str]
"""Returns what is wrong, `""` when nothing is. Never waits; the text stays inside, clients learn the name only."""

TEXT = (("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"))


class Health:
    """Answers the three health paths.

    `live` tells whether a restart would help, `ready` whether requests should come here. `/healthz` is the older name
    of `/livez`. A check named ping, which always succeeds, is the first of each.
    """

    def __init__(self, *, live: Mapping[str, Check] | None = None, ready: Mapping[str, Check] | None = None) -> None:
        """Take the checks by name; readiness includes everything that liveness checks."""
        alive: dict[str, Check] = {"ping": str} | dict(live or {})
        self._checks = {"healthz": alive, "livez": alive, "readyz": alive | dict(ready or {})}

    def __call__(self, segments: Sequence[str], query: Query) -> Answer:
        """Answer `/livez` or `/livez/{check}`; raises `Failure` (404) for an unknown check."""
        checks = self._checks[segments[0]]
        if len(segments) == 1:
            return _summary(segments[0], checks, query)
        name = "/".join(segments[1:])
        if name not in checks:
            raise path_not_found()
        return _summary(name, {name: checks[name]}, query)

    def paths(self) -> list[str]:
        """Return every health path, as the root document lists them."""
        return [f"/{path}{tail}" for path, checks in self._checks.items() for tail in ("", *(f"/{c}" for c in checks))]


def _summary(name: str, checks: Mapping[str, Check], query: Query) -> Answer:
    excluded = set(query.all("exclude"))
    lines = []
    failed = False
    for check, run in checks.items():
        if check in excluded:
            excluded.discard(check)
            lines.append(f"[+]{check} excluded: ok")
        elif run():
            failed = True
            lines.append(f"[-]{check} failed: reason withheld")
        else:
            lines.append(f"[+]{check} ok")
    if excluded:
        unknown = ", ".join(f'"{check}"' for check in sorted(excluded))
        lines.append(f"warn: some health checks cannot be excluded: no matches for {unknown}")
    if failed:
        return Answer(500, TEXT, "\n".join([*lines, f"{name} check failed\n"]).encode())
    if "verbose" not in query:
        return Answer(200, TEXT, b"ok")
    return Answer(200, TEXT, "\n".join([*lines, f"{name} check passed\n"]).encode())
