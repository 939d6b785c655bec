"""The kcp kinds that our controllers read and write, as far as they need them."""

import msgspec

from informers.api.objects import Condition, Metadata
from informers.api.resources import Resource


class ExportReference(msgspec.Struct, frozen=True, gc=False):
    """`spec.export` of a slice: an APIExport by workspace path (or cluster name) and name."""

    name: str = ""
    path: str = ""
    """"" means the slice's own cluster."""


class SliceSpec(msgspec.Struct, frozen=True, gc=False):
    """What an APIExportEndpointSlice asks for."""

    export: ExportReference
    partition: str = ""
    """Name of a Partition in the slice's own cluster; "" for none."""


class Endpoint(msgspec.Struct, frozen=True, gc=False):
    """One published URL."""

    url: str = ""


class SliceStatus(msgspec.Struct, frozen=True, gc=False):
    """What is published."""

    conditions: list[Condition] = []
    endpoints: list[Endpoint] | None = None


class Slice(msgspec.Struct, frozen=True, gc=False):
    """An APIExportEndpointSlice."""

    spec: SliceSpec
    metadata: Metadata = Metadata()
    status: SliceStatus = SliceStatus()


class ExportStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An APIExport's status, as far as URLs go."""

    conditions: list[Condition] = []
    virtual_workspaces: list[Endpoint] | None = None


class Export(msgspec.Struct, frozen=True, gc=False):
    """An APIExport."""

    metadata: Metadata = Metadata()
    status: ExportStatus = ExportStatus()


class ShardSpec(msgspec.Struct, frozen=True, gc=False):
    """A Shard's three URLs."""

    base_url: str = msgspec.field(name="baseURL", default="")
    external_url: str = msgspec.field(name="externalURL", default="")
    virtual_workspace_url: str = msgspec.field(name="virtualWorkspaceURL", default="")


class Shard(msgspec.Struct, frozen=True, gc=False):
    """A Shard."""

    metadata: Metadata = Metadata()
    spec: ShardSpec = ShardSpec()


class PartitionSpec(msgspec.Struct, frozen=True, gc=False):
    """Which shards belong to a partition, as a LabelSelector in the API's form; None selects nothing."""

    selector: dict[str, object] | None = None


class Partition(msgspec.Struct, frozen=True, gc=False):
    """A Partition."""

    metadata: Metadata = Metadata()
    spec: PartitionSpec = PartitionSpec()


class LogicalCluster(msgspec.Struct, frozen=True, gc=False):
    """A LogicalCluster: the one object in each logical cluster that stands for it."""

    metadata: Metadata = Metadata()


SLICES = Resource("apis.kcp.io", "v1alpha1", "apiexportendpointslices", Slice, kind="APIExportEndpointSlice")
EXPORTS = Resource("apis.kcp.io", "v1alpha1", "apiexports", Export, kind="APIExport")
SHARDS = Resource("core.kcp.io", "v1alpha1", "shards", Shard, kind="Shard")
PARTITIONS = Resource("topology.kcp.io", "v1alpha1", "partitions", Partition, kind="Partition")
LOGICAL_CLUSTERS = Resource("core.kcp.io", "v1alpha1", "logicalclusters", LogicalCluster, kind="LogicalCluster")
