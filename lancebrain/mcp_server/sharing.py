"""Which server of an index others hand over to: a lock, a small file, and a proof.

Of the servers of one index that are set up alike, the first takes the others in, and each of
those becomes a pipe to it (see ``relay`` and ``admission``). A lock that the system lets go of
with its process tells whether there is such a server; a file that its owner alone can read tells
where. Both ends prove that they have read it before anything else is said.

Light: a process that only hands over loads nothing of the protocol.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = "serving"
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the shared server listens on this computer, and what proves that it is the one."""

    port: int
    pid: int
    token: str


class Sharing:
    """The servers of one index that are set up alike.

    Args:
        index: the index folder.
        alike: all that has to be the same for one to do the work of another.
    """

    def __init__(self, index: Path, alike: Iterable[object]) -> None:
        key = hashlib.sha256(json.dumps([str(part) for part in alike]).encode()).hexdigest()[:16]
        self._lock_file = index / FOLDER / f"{key}.lock"
        self._file = index / FOLDER / f"{key}.json"
        self._lock: int | None = None

    def claim(self) -> bool:
        """Whether this process is the one that takes others in, from now on.

        Raises:
            OSError: the folder cannot be written, or knows no locks.
        """
        if self._lock is not None:
            return True
        self._lock_file.parent.mkdir(mode=0o700, exist_ok=True)
        opened = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(opened)
        except BlockingIOError:
            os.close(opened)
            return False
        except OSError:
            os.close(opened)
            raise
        self._lock = opened
        self._file.unlink(missing_ok=True)  # of one that was killed
        return True

    def announce(self, port: int) -> str:
        """Tell where this process listens; the token that it and others prove themselves with."""
        address = Address(port, os.getpid(), secrets.token_hex(32))
        fresh = self._file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="ascii") as stream:
            json.dump(asdict(address), stream)
        fresh.replace(self._file)
        return address.token

    def address(self) -> Address | None:
        """Where the shared server listens; None while it does not say."""
        try:
            return Address(**json.loads(self._file.read_text(encoding="ascii")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def release(self) -> None:
        """Take nobody in any more."""
        if self._lock is not None:
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


def proof(token: str, who: str) -> bytes:
    """A line that only who knows the token can write, and that does not tell it."""
    return hmac.digest(token.encode(), who.encode(), "sha256").hex().encode() + b"\n"


def is_proof(line: bytes, token: str, who: str) -> bool:
    """Whether a line proves that ``who`` wrote it."""
    return hmac.compare_digest(line, proof(token, who))


def _lock(opened: int) -> None:
    """Lock an open file for this process, without waiting; BlockingIOError when it is taken."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
    else:
        import fcntl

        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
