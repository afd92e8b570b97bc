"""The lock that makes look, plan and commit one step for every process on an index folder.

An OS file lock, so a process that dies lets go of it, however it dies. One that was stopped or
hangs does not, but it shows no pulse: whoever has watched the pulse stand still for some seconds
puts a locked file of its own in the place of the held one. The other finds out before it writes;
what it had begun to write before it stood still has to be made to fail, see ``is_fence_due``.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import lock_descriptor

from lancebrain.errors import IndexLockedError, UsageError

from .failures import translated
from .reentrant import WriteLock

_POLL_S = 0.02
_PULSE_S = 1.0
STILL_S = 15.0
"""A holder whose pulse stands still for so long does not go on."""
_LONGEST_S = 300.0
"""A holder shows its pulse for no longer: then it hangs, whatever its other threads do."""


class IndexLock(WriteLock):
    """The write lock of one index folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._file = folder / "lock"
        self._holder_file = folder / "lock.json"
        self._fence_file = folder / "lock.fence"
        self._is_alone = False
        self._descriptor: int | None = None
        self._released = threading.Event()

    @contextmanager
    def alone(self) -> Iterator[None]:
        before = self._is_alone
        self.check()
        self._tell(alone=True)
        try:
            self.check()
            yield
        finally:
            self._tell(alone=before)

    def check(self) -> None:
        if self._descriptor is None:
            raise UsageError("Only the holder of the index lock may write: `with store.lock(…):`.")
        if not self._is_in_place(self._descriptor):
            raise IndexLockedError(
                f"This process stood still for so long that {self._holder_name()} took over the "
                f"index in {self._folder}.",
                hint="Run the command again.",
            )

    @property
    def is_fence_due(self) -> bool:
        return self._fence_file.exists()

    def fenced(self) -> None:
        self._fence_file.unlink(missing_ok=True)

    def _acquire(self, timeout_s: float, *, alone: bool) -> None:
        with translated(self._folder, "taking the lock"):
            self._wait(timeout_s)
            try:
                self._tell(alone=alone)
            except OSError:
                self._release()
                raise
        self._released = threading.Event()
        beating = (self._descriptor, self._released)
        threading.Thread(
            target=self._beat, args=beating, name="lancebrain-lock", daemon=True
        ).start()

    def _wait(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        pulse = _Pulse(self._holder_file)
        while not self._taken(self._file):
            if pulse.is_still() and self._taken_over():
                return
            if time.monotonic() >= deadline:
                raise self._locked_error(timeout_s)
            time.sleep(_POLL_S)

    def _release(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        self._released.set()
        if descriptor is not None:
            os.close(descriptor)

    def _taken(self, file: Path) -> bool:
        """Lock a file, and keep it if it is still the one of that name."""
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if lock_descriptor(descriptor, blocking=False) and self._is_in_place(descriptor, file):
                self._descriptor = descriptor
        finally:
            if self._descriptor is None:
                os.close(descriptor)
        return self._descriptor is not None

    def _taken_over(self) -> bool:
        """Take the lock from a holder that does not go on."""
        # Where a file that is open cannot be replaced, one has to wait.
        if os.name == "nt" or self._holder().get("alone"):
            return False
        # First, so that nobody forgets about it, whoever is killed when.
        self._fence_file.touch()
        own = self._file.with_name(f"lock.{secrets.token_hex(8)}")
        if not self._taken(own):
            return False
        own.replace(self._file)
        return True

    def _is_in_place(self, descriptor: int, file: Path | None = None) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), (file or self._file).stat())
        except FileNotFoundError:
            return False

    def _beat(self, descriptor: int, released: threading.Event) -> None:
        """Show a pulse while the lock is held, in a thread of its own."""
        until = time.monotonic() + _LONGEST_S
        with suppress(OSError):  # released just now, or the folder is gone
            while not released.wait(_PULSE_S) and time.monotonic() < until:
                if not self._is_in_place(descriptor):
                    return
                os.utime(self._holder_file)

    def _tell(self, *, alone: bool) -> None:
        self._is_alone = alone
        since = datetime.now(UTC).isoformat(timespec="seconds")
        holder = {"pid": os.getpid(), "since": since, "alone": alone}
        self._holder_file.write_text(json.dumps(holder), encoding="utf-8")

    def _locked_error(self, timeout_s: float) -> IndexLockedError:
        return IndexLockedError(
            f"The index in {self._folder} is locked by {self._holder_name()}; "
            f"waited {timeout_s:g} s.",
            hint="Wait for it to finish, let it go on if it was stopped, or end that process.",
        )

    def _holder(self) -> Mapping[str, object]:
        try:
            holder = json.loads(self._holder_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return holder if isinstance(holder, dict) else {}

    def _holder_name(self) -> str:
        holder = self._holder()
        if not {"pid", "since"} <= holder.keys():
            return "another process"
        return f"process {holder['pid']} since {holder['since']}"


class _Pulse:
    """Watches a file that the holder of a lock touches again and again.

    By what changes, not by the clock, which may be set, or be another one on a network drive.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last: tuple[int, int] | None = None
        self._since = time.monotonic()

    def is_still(self) -> bool:
        """Whether it has not changed for so long that its holder does not go on."""
        try:
            status = self._file.stat()
        except FileNotFoundError:
            return False
        seen = (status.st_ino, status.st_mtime_ns)
        if seen != self._last:
            self._last, self._since = seen, time.monotonic()
        return time.monotonic() - self._since >= STILL_S
