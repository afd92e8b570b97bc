"""Reading one file so that what was read is what was there: between two equal ``stat`` results.

The look and the engine call it; readers turn the bytes into a document. A session log is not
read here, since it may be of any size and go on growing: what tells one from another is taken,
and its reader takes its own way through the file.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from lancebrain.kinds import LOGS
from lancebrain.sources import times_of
from lancebrain.types import Problem, SourceFile

_ATTEMPTS = 3
_LOG_HEAD_BYTES = 1 << 14
_LOG_TAIL_BYTES = 1 << 16
_T = TypeVar("_T")
# A pipe that took the file's place since the walk must not block the open.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Reading:
    """A file's bytes and its state while they were read.

    Attributes:
        data: empty for a session log.
        sha256: of ``data``, hex; of a session log's size, modification time, first and last
            bytes.
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
    read = _read_log if file.source.kind in LOGS else _read_whole
    for _ in range(_ATTEMPTS):
        reading = in_file(file, lambda opened: read(opened, now_ns))
        if reading is not None:
            return reading
    return Problem(
        file.path, "changing", "The file changed each time it was read; it will be tried again."
    )


def in_file(file: SourceFile, do: Callable[[BinaryIO], _T]) -> _T | Problem:
    """Open a file and do something with it.

    Returns:
        What that returns, or a Problem ``unreadable`` when the system refuses.

    Raises:
        Vanished: the file is gone.
    """
    try:
        descriptor = os.open(file.file, _OPEN_FLAGS)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Vanished(file.path)
            return do(opened)
    except (FileNotFoundError, NotADirectoryError):
        raise Vanished(file.path) from None
    except OSError as error:
        return Problem(file.path, "unreadable", f"The file cannot be read: {error.strerror}.")


def _read_whole(opened: BinaryIO, now_ns: int) -> Reading | None:
    """The file's bytes, or None when it changed meanwhile."""
    before = os.fstat(opened.fileno())
    data = opened.read()
    after = os.fstat(opened.fileno())
    if _seen(before) != _seen(after) or len(data) != after.st_size:
        return None
    return _reading(after, now_ns, data, hashlib.sha256(data).hexdigest())


def _read_log(opened: BinaryIO, now_ns: int) -> Reading:
    """What tells a log from another; that it grows meanwhile does not matter."""
    status = os.fstat(opened.fileno())
    digest = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns} ".encode())
    digest.update(opened.read(min(_LOG_HEAD_BYTES, status.st_size)))
    opened.seek(max(0, status.st_size - _LOG_TAIL_BYTES))
    digest.update(opened.read(min(_LOG_TAIL_BYTES, status.st_size)))
    return _reading(status, now_ns, b"", digest.hexdigest())


def _reading(status: os.stat_result, now_ns: int, data: bytes, sha256: str) -> Reading:
    mtime_ns, ctime_ns = times_of(status)
    return Reading(
        data=data,
        sha256=sha256,
        size=status.st_size,
        mtime_ns=mtime_ns,
        ctime_ns=ctime_ns,
        looked_at_ns=now_ns,
    )


def _seen(result: os.stat_result) -> tuple[int, int]:
    return result.st_size, result.st_mtime_ns
