"""Where in its author's own code an error came up, whatever of ours and of libraries lies around it."""

import os
import sysconfig
from pathlib import Path

import informers
import kcpctl

_OURS = tuple(f"{Path(module.__file__ or '').parent}{os.sep}" for module in (informers, kcpctl))
_PYTHONS = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def place_of(error: BaseException) -> str:
    """Return the innermost line of the author's own: `file:line`, "" where there is none.

    Where all that is not ours is a library's, as with controllers that were installed, the innermost line of that.
    """
    own = library = ""
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith((*_OURS, "<")):
            library = f"{name}:{trace.tb_lineno}"
            own = own if name.startswith(_PYTHONS) else library
        trace = trace.tb_next
    return own or library
