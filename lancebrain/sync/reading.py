"""Reading one file so that what was read is what was there: between two equal ``stat`` results.

The look and the engine call it; readers turn the bytes into a document.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass

from lancebrain.types import Problem, SourceFile

_ATTEMPTS = 3
# A pipe that took the file's place since the walk must not block the open.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Reading:
    """A file's bytes and its state while they were read.

    Attributes:
        sha256: of ``data``, hex.
        looked_at_ns: wall clock before the file was opened.
    """

    data: bytes
    sha256: str
    size: int
    mtime_ns: int
    ctime_ns: int
    looked_at_ns: int


class Vanished(Exception):  # noqa: N818 - not a failure: the next look knows what to make of it
    """The file was not there any more when it should have been read."""


def read_file(file: SourceFile, now_ns: int) -> Reading | Problem:
    """Read a file whole.

    Args:
        file: as discovery found it.
        now_ns: the wall clock now.

    Returns:
        The reading, or a Problem: ``changing`` when every one of a few attempts saw the file
        change, ``unreadable`` when the system refuses.

    Raises:
        Vanished: it is gone.
    """
    try:
        for _ in range(_ATTEMPTS):
            reading = _read_once(file.file, now_ns)
            if reading is not None:
                return reading
    except (FileNotFoundError, NotADirectoryError):
        raise Vanished(file.path) from None
    except OSError as error:
        return Problem(file.path, "unreadable", f"The file cannot be read: {error.strerror}.")
    return Problem(
        file.path, "changing", "The file changed each time it was read; it will be tried again."
    )


def _read_once(name: str, now_ns: int) -> Reading | None:
    """The file's bytes, or None when it changed meanwhile."""
    descriptor = os.open(name, _OPEN_FLAGS)
    with os.fdopen(descriptor, "rb") as opened:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise FileNotFoundError(name)
        data = opened.read()
        after = os.fstat(descriptor)
    if _seen(before) != _seen(after) or len(data) != after.st_size:
        return None
    return Reading(
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        size=after.st_size,
        mtime_ns=after.st_mtime_ns,
        ctime_ns=after.st_ctime_ns,
        looked_at_ns=now_ns,
    )


def _seen(result: os.stat_result) -> tuple[int, int]:
    return result.st_size, result.st_mtime_ns
