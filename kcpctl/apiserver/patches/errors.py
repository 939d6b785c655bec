"""Why a patch cannot be applied."""


class PatchError(Exception):
    """The root of what patches fail with; the message is for people."""


class Malformed(PatchError):
    """The patch is not one (400)."""


class DoesNotApply(PatchError):
    """The patch is one, but not for this object (422, without details)."""


class TooLarge(PatchError):
    """The patch does more than is allowed (413)."""


class Unexpected(PatchError):
    """What kube-apiserver has no code for (500 without a reason)."""
