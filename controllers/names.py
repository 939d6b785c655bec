"""Names and filters that several controllers share."""

from informers.runtime.filters import field_changed, labels_changed

CACHE = "cache"
"""The cache server's name in a Manager."""

ROOT = "root"
"""The logical cluster that Shards are registered in."""

SHARD_CHANGED = labels_changed | field_changed("spec", "virtualWorkspaceURL")
"""Keeps what matters to published URLs: a Shard's coming and going, its labels and its virtual workspace URL."""
