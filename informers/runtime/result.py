"""What a reconciler wishes for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """What should be, in the words of a reconciler; the runtime writes only a difference.

    None, or a Result without anything in it, is: all is well, wake me at the next change.
    """

    status: Any = None
    """The whole status that the object should have, a mapping or a value that msgspec turns into one: what is not in it
    goes. With `apply` only the fields that this controller owns. A field that is None counts as absent.

    In its `conditions` a `Condition` needs a type and a status, and for most definitions a reason. lastTransitionTime
    stays while the status does, and is the time of the write when that changes; empty fields are left out, except for a
    message beside a reason."""

    fields: Mapping[str, Any] | None = None
    """Fields of the object itself, as a merge patch: what is named should be so (None: absent), the rest stays."""

    requeue_after: float | None = None
    """Seconds until the next visit, if no change comes earlier; at or below 0 that is at once."""

    apply: bool = False
    """Write by server-side apply, with the controller's name as field manager, instead of a merge patch: for objects
    with several writers. What was applied before and is not named now goes."""

    error: Exception | None = None
    """What went wrong all the same: the wish is written first, then the visit counts as failed with this error."""

    def __post_init__(self) -> None:
        if self.requeue_after is not None and math.isnan(self.requeue_after):
            raise ValueError("expected requeue_after in seconds, found nan")
        if self.fields is not None and "status" in self.fields:
            raise ValueError("expected the object's own fields in Result.fields, found status; use Result.status")
