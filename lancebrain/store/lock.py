"""The lock that makes look, plan and commit one step for every process on an index.

An OS file lock, so a process that dies lets go of it, however it dies. Who holds it is written
beside it, for the message to the one who waits in vain.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from lancebrain.errors import IndexLockedError

from .failures import translated

_POLL_INTERVAL_S = 0.02


class IndexLock:
    """The write lock of one index folder; reentrant within a thread, exclusive across all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holder_file = folder / "lock.json"
        self._file = FileLock(folder / "lock", thread_local=False, poll_interval=_POLL_INTERVAL_S)
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def held(self, timeout_s: float) -> Iterator[None]:
        """Hold the lock for the block.

        Args:
            timeout_s: how long to wait for another holder; 0 does not wait.

        Raises:
            IndexLockedError: it was held for longer, by whom and since when.
            StoreError: the folder may not be written.
        """
        if not self._threads.acquire(timeout=max(timeout_s, 0)):
            raise self._locked_error(timeout_s)
        try:
            if self._depth == 0:
                self._acquire_file(timeout_s)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._file.release()
        finally:
            self._threads.release()

    @property
    def is_held(self) -> bool:
        """Whether some thread of this process holds it through this object."""
        return self._depth > 0

    @property
    def is_nested(self) -> bool:
        """Whether it was held already when it was taken last."""
        return self._depth > 1

    def _acquire_file(self, timeout_s: float) -> None:
        with translated(self._folder, "taking the lock"):
            try:
                self._file.acquire(timeout=max(timeout_s, 0))
            except Timeout:
                raise self._locked_error(timeout_s) from None
            holder = {"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}
            self._holder_file.write_text(json.dumps(holder), encoding="utf-8")

    def _locked_error(self, timeout_s: float) -> IndexLockedError:
        return IndexLockedError(
            f"The index in {self._folder} is locked by {self._holder()}; waited {timeout_s:g} s.",
            hint="Wait for it to finish, or end that process.",
        )

    def _holder(self) -> str:
        try:
            holder = json.loads(self._holder_file.read_text(encoding="utf-8"))
            return f"process {holder['pid']} since {holder['since']}"
        except (OSError, ValueError, KeyError):
            return "another process"
