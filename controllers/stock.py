"""What is known of one resource that is replicated: its originals at home, and the copies in the segment."""

from typing import Any

import msgspec

from controllers.copies import ORIGINAL_RV
from controllers.replication import Replicator
from informers.api.objects import Key
from informers.cache.informer import SharedInformer


class Replicated:
    """One resource: its replicator, and what is known of it at home and in the cache."""

    def __init__(self, replicator: Replicator, home: SharedInformer[Any], copies: SharedInformer[Any]) -> None:
        """Put them together."""
        self.replicator = replicator
        self.home = home
        self.copies = copies
        self.is_outdated = False
        """Whether the local store is older than what copies were made from."""
        self._found: set[Key] = set()
        self._number = 0

    @property
    def synced(self) -> bool:
        """Whether both sides are known."""
        return self.home.synced and self.copies.synced

    def originals(self) -> set[Key]:
        """Return the keys of all that is to have a copy."""
        return {key for key in self.home.store.keys if not key.cluster.startswith("system:")}

    def copied(self) -> set[Key]:
        """Return the keys of the originals of all copies in the segment."""
        shard = self.replicator.shard
        return {key.shardless() for key in self.copies.store.keys if key.shard == shard}

    def extra(self) -> set[Key]:
        """Return the keys of copies that have no original; registration makes that of the own Shard again."""
        there = self.home.store
        return {key for key in self.copied() if there.get(key) is None and not self.replicator.is_own_shard(key)}

    def held(self) -> set[Key]:
        """Return those among the extra ones that stay, since their originals may exist all the same."""
        return set(filter(self.replicator.may_exist, self.extra()))

    def take_stock(self, since: int | None) -> None:
        """Remember which copies the segment holds, unless that is known: none but those can be another store's.

        `since` is the revision behind which the local store has nothing of what the copies were made from, if any.
        """
        history = self.copies.history
        if history is None or history.number == self._number:
            return
        copied = self.copied()
        self._number = history.number
        self._found |= copied
        if since is not None:
            self.is_outdated |= any(self._revision(key) > since for key in copied)

    def forget_stock(self) -> None:
        """Have stock taken anew."""
        self._number = 0
        self.is_outdated = False

    @property
    def is_stocked(self) -> bool:
        """Whether it is known which copies the segment holds."""
        return self._number > 0

    def was_found(self, key: Key) -> bool:
        """Say whether a copy was there when the segment was taken, or came with another history of the cache since."""
        return key in self._found

    def _revision(self, key: Key) -> int:
        """Return the revision of the original that a copy was made from."""
        copy = self.copies.store.get(msgspec.structs.replace(key, shard=self.replicator.shard))
        revision = copy.annotations.get(ORIGINAL_RV, "") if copy is not None else ""
        return int(revision) if revision.isdecimal() else 0

    def missing(self) -> set[Key]:
        """Return the keys of all that was ever found, and that the local store lacks though it was not deleted.

        Copies that went with an emptied cache are among them: they may come back with an older one.
        """
        lacked = {key for key in self._found if self.home.store.get(key) is None}
        return {key for key in lacked if not self.replicator.is_own_shard(key) and not self.replicator.was_deleted(key)}
