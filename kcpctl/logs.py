"""Logs: structlog events with fixed field names, and how errors are told in one line."""

import logging
import sys
from datetime import datetime
from typing import Any

from informers.api.conditions import timestamp
from kcpctl.overheard import Overheard
from kcpctl.slim import without

with without("rich"):  # structlog would draw tracebacks with it, which are never printed here: a tenth of the start
    import structlog

Log = Any
"""A structlog logger."""


def configure(log_format: str, verbose: int) -> None:
    """Set up structlog for this process: `console` or `json`, on stderr, from the level that `-v` asks for."""
    level = {0: logging.INFO, 1: logging.DEBUG}.get(verbose, logging.NOTSET)
    last: Any = structlog.processors.JSONRenderer() if log_format == "json" else _console()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _plain,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.lastResort = Overheard(structlog.get_logger())


def logger() -> Log:
    """Return structlog's logger, as it is configured when it is first used."""
    return structlog.get_logger()


def _console() -> Any:
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), sort_keys=False)


def _plain(_: Any, __: str, event: Any) -> Any:
    """Print errors as one line, their type and what they say, and moments as Kubernetes does."""
    for name, value in event.items():
        if isinstance(value, BaseException):
            event[name] = told(value)
        elif isinstance(value, datetime):
            event[name] = timestamp(value)
    return event


def told(error: BaseException) -> str:
    """Return an error in one line."""
    text = str(error).replace("\n", "; ")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
