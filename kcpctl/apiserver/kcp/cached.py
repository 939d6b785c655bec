"""How a cache server treats what it holds: copies, of which it knows nothing but their metadata."""

from kcpctl.apiserver.crds.catalog import AsStored
from kcpctl.apiserver.served import JSON, Context
from kcpctl.apiserver.stored import SHARD


class AsReplicated(AsStored):
    """The strategy of every kind in a cache server: objects are kept as they come, spec and status alike."""

    def prepare_create(self, obj: JSON, context: Context) -> None:
        """Begin with the generation 1, unless the object says that it comes from a shard, with a generation."""
        del context
        metadata = obj["metadata"]
        if SHARD not in (metadata.get("annotations") or ()):
            metadata["generation"] = 1
