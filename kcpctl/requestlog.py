"""Requests as log events: every one at debug level, what went wrong unexpectedly as an error."""

import logging
import traceback

from kcpctl.apiserver.app import Observe, Seen
from kcpctl.logs import Log


def request_log(log: Log) -> Observe:
    """Return the observer of an API server that tells this logger."""
    log = log.bind()  # unbound it would be made anew for each request
    tells_all = log.is_enabled_for(logging.DEBUG)

    def seen(request: Seen) -> None:
        if not tells_all and request.error is None:
            return
        fields = {"method": request.method, "path": request.path, "status": request.status, "user": request.user.name}
        if request.error is not None:
            log.error("request failed unexpectedly", **fields, error=request.error)
            log.debug("where it failed", trace="".join(traceback.format_exception(request.error)))
            return
        took = round(request.seconds, 4)
        log.debug("request", **fields, query=request.query, took=took, agent=request.user_agent)

    return seen
