"""Names that several controllers share."""

CACHE = "cache"
"""The cache server's name in a Manager."""

ROOT = "root"
"""The logical cluster that Shards are registered in."""
