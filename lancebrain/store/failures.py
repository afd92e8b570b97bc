"""Errors of Lance, LanceDB and the file system, told as ours: what happened and what to do next.

The one boundary where third-party exceptions of the store end.
"""

from __future__ import annotations

import errno
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from lancebrain.errors import DamagedError, LancebrainError, StoreError, UnreachableError

_NO_ROOM = ("no space left on device", "disk quota exceeded", "storage full", "file too large")
_NOT_ALLOWED = ("permission denied", "read-only file system", "operation not permitted")
_FOR_NOW = ("too many open files", "allocate memory", "out of memory", "timed out", "is locked")
_AWAY = (
    "error sending request",
    "generic s3 error",
    "generic gcs error",
    "generic microsoftazure error",
    "retryerror",
    "httperror",
)
_HTTP_HINT = "An address that begins with http:// takes `allow_http = true` in [storage_options]."
_MISSING = ("not found:", "no such file or directory", "notfound")
_OS_ERROR = re.compile(r"\(os error (\d+)\)")
"""How Rust tells the number of what the system refused."""
_NUMBERS_OF_SQLITE = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
}


@contextmanager
def translated(where: object, doing: str) -> Iterator[None]:
    """Run a step of the store; what Lance raises leaves as a :class:`StoreError`.

    Args:
        where: the index is, for the message.
        doing: the step, as in "writing a commit".
    """
    try:
        yield
    except LancebrainError:
        raise
    except (RuntimeError, OSError, ValueError, KeyError) as error:
        raise as_store_error(error, where, doing) from error
    except BaseException as error:
        # A panic in Rust derives from BaseException, so that only its name tells it apart.
        if type(error).__name__ != "PanicException":
            raise
        raise as_store_error(error, where, doing) from error


def as_store_error(error: BaseException, where: object, doing: str) -> StoreError:
    """``error`` as a sentence about the index and the next step.

    What Lance cannot understand is damage. What the system refuses is not: it passes, or it is
    for a person to see to. Nor is what SQLite says of the files beside the table, which hold
    nothing that cannot be made anew.
    """
    said = str(error)
    lower = said.lower()
    number = _number_of(error)
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or any(s in lower for s in _NO_ROOM):
        return StoreError(
            f"No room left on the disk of {where} while {doing}; what was committed stays.",
            hint="Free some space and run the command again.",
        )
    if number in (errno.EACCES, errno.EPERM, errno.EROFS) or any(s in lower for s in _NOT_ALLOWED):
        return StoreError(
            f"The index in {where} may not be written, which {doing} needs.",
            hint="Make it writable, or choose another with --index.",
        )
    if isinstance(error, ConnectionError) or any(s in lower for s in _AWAY):
        return UnreachableError(
            f"The index in {where} cannot be reached ({doing}): {_first_line(said)}",
            hint=_HTTP_HINT
            if "builder error" in lower
            else "See to the network, the credentials and the name of the bucket or container, "
            "which is not made here, and run the command again.",
        )
    if number is not None or any(s in lower for s in _FOR_NOW):
        return StoreError(
            f"The index in {where} cannot be used ({doing}): {_first_line(said)}",
            hint="Run the command again.",
        )
    return DamagedError(
        f"The index in {where} is damaged ({doing}): {_first_line(said)}",
        hint="Run `lancebrain doctor --fix`.",
    )


def is_damage(error: BaseException) -> bool:
    """Whether an error tells of damage, and not of what the system refuses."""
    return isinstance(as_store_error(error, "", ""), DamagedError)


def is_missing_data(error: BaseException) -> bool:
    """Whether a read failed because a file of its version is gone (cleaned up meanwhile)."""
    lower = str(error).lower()
    return any(s in lower for s in _MISSING)


def sqlite_code(error: BaseException) -> int:
    """What SQLite says is the matter, without its variants; 0 for what is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _number_of(error: BaseException) -> int | None:
    """What the system refused, as ``errno`` counts; None where it did not, or where that a file is
    missing was found out by Lance."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    if isinstance(error, sqlite3.Error):
        return _NUMBERS_OF_SQLITE.get(sqlite_code(error), errno.EIO)
    told = _OS_ERROR.search(str(error))
    return int(told[1]) if told and int(told[1]) != errno.ENOENT else None


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "unknown error"
    return line if len(line) <= 300 else line[:300] + "…"
