"""Who fills in vectors, when several processes serve one index: a note with a pulse.

Not a lock: it only keeps two processes from embedding the same texts. A holder that died, hangs
or was stopped loses it within seconds; should two hold it for a moment, work is done twice and
nothing is wrong.
"""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

from lancebrain.store.failures import translated

_EXPIRES_S = 15.0


class Lease:
    """The lease of one index folder, for one worker.

    Args:
        folder: the index folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "backfill.lease"
        self._token = secrets.token_hex(8)

    def take(self) -> bool:
        """Take or renew the lease; False while someone else's is alive.

        Raises:
            StoreError: the folder cannot be written, or is full.
        """
        with translated(self._folder, "taking the lease to fill in vectors"):
            try:
                if self._file.read_text(encoding="ascii") == self._token:
                    os.utime(self._file)
                    return True
                if time.time() - self._file.stat().st_mtime < _EXPIRES_S:
                    return False
            except FileNotFoundError:
                pass
            fresh = self._file.with_suffix(f".{self._token}")
            fresh.write_text(self._token, encoding="ascii")
            fresh.replace(self._file)
        return True

    def drop(self) -> None:
        """Let go, if it is held."""
        try:
            if self._file.read_text(encoding="ascii") == self._token:
                self._file.unlink()
        except FileNotFoundError:
            pass
