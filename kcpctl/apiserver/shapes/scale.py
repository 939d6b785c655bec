"""autoscaling/v1 Scale: how many replicas are wanted, and how many there are."""

from kcpctl.apiserver.shapes.fields import ALWAYS, Kind, Message, one, scalar, text
from kcpctl.apiserver.shapes.meta import top

SCALE = top(
    "Scale",
    one("spec", 2, Message("ScaleSpec", (scalar("replicas", 1, Kind.INT32),))),
    one("status", 3, Message("ScaleStatus", (scalar("replicas", 1, Kind.INT32, ALWAYS), text("selector", 2)))),
)
