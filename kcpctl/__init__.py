"""The process: command line, settings, wiring, logs, and the API server."""

__version__ = "0.1.0"
