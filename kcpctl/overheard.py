"""What libraries say through Python's `logging`, as events of the process's own log."""

import logging
import traceback
from typing import Any

_LEVELS = {logging.WARNING: "warning", logging.ERROR: "error", logging.CRITICAL: "critical"}


class Overheard(logging.Handler):
    """Takes warnings and errors; as `logging.lastResort` only those of loggers that nobody gave a handler."""

    def __init__(self, log: Any) -> None:
        """Tell this structlog logger."""
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of a record in one event, and where it happened in another, at debug level."""
        error = record.exc_info[1] if record.exc_info else None
        fields: dict[str, Any] = {"library": record.name, "said": _said(record).replace("\n", "; ")}
        level = _LEVELS.get(record.levelno, "error")
        getattr(self._log, level)("overheard from a library", **fields, **({"error": error} if error else {}))
        if error is not None:
            self._log.debug("where it failed", trace="".join(traceback.format_exception(error)))


def _said(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - the library's own code, which goes on as it would without us
        return str(record.msg)
