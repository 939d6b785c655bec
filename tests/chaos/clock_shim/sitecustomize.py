"""Shift the wall clock of a Python process that finds this module, by the seconds in the file that CHAOS_CLOCK names.

The file holds one float, eight bytes, and is read at each look at the clock, so that the clock jumps while the process
runs. Monotonic time, and what OpenSSL thinks of certificates, stay as they are.
"""

import ctypes
import datetime
import gc
import mmap
import os
import struct
import time


def _shift(path: str) -> None:
    with open(path, "rb") as file:
        cell = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
    real, unpack = time.time, struct.Struct("d").unpack

    def shifted() -> float:
        return real() + float(unpack(cell[:8])[0])

    def now(cls: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> datetime.datetime:
        return cls.fromtimestamp(shifted(), tz)

    time.time = shifted
    # A subclass would not do: msgspec takes exactly this type. Its namespace can only be reached past the proxy.
    (namespace,) = gc.get_referents(datetime.datetime.__dict__)
    namespace["now"] = classmethod(now)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))


if "CHAOS_CLOCK" in os.environ:
    _shift(os.environ["CHAOS_CLOCK"])
