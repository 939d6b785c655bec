"""A store as a child would write it: every state that ever was, kept whole."""

from kcpctl.apiserver.storage.base import Change, Record


class Model:
    """Every revision's full state, and the change that led there."""

    def __init__(self, revision: int) -> None:
        self.states: dict[int, dict[str, Record]] = {revision: {}}
        self.changes: list[Change] = []
        self.revision = revision

    @property
    def now(self) -> dict[str, Record]:
        return self.states[self.revision]

    def write(self, key: str, value: bytes | None) -> int:
        previous = self.now.get(key)
        state = dict(self.now)
        self.revision += 1
        if value is None:
            del state[key]
        else:
            state[key] = Record(key, self.revision, value)
        self.states[self.revision] = state
        self.changes.append(Change(key, self.revision, value, previous))
        return self.revision

    def under(self, prefix: str, revision: int) -> list[Record]:
        return [record for key, record in sorted(self.states[revision].items()) if key.startswith(prefix)]

    def after(self, prefix: str, revision: int) -> list[Change]:
        return [c for c in self.changes if c.revision > revision and c.key.startswith(prefix)]
