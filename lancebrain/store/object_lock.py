"""The lock of an index on object storage: an object that says who holds it.

It is written only where it still is what was read (a conditional put), so that of two who want it
one gets it. A machine that dies does not let go. So its holder writes it again every few seconds,
and whoever has watched it stand still for long enough takes it over. As with a folder's lock, what
the other had begun to write then has to be made to fail, see ``is_fence_due``.
"""

from __future__ import annotations

import json
import os
import platform
import random
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from lancebrain.errors import IndexLockedError, LancebrainError, UsageError

from .failures import translated
from .objects import Objects, Seen, SupersededError
from .reentrant import WriteLock

NAME = "lock.json"
PULSE_S = 3.0
STILL_S = 20.0
"""A holder that did not write for so long does not go on."""
ALONE_STILL_S = 120.0
"""The same of one that does what must not be taken over: it had better be dead."""
_FRESH_S = 1.0
"""What was written so lately need not be written again to know that the lock is held."""
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class _State:
    """What the object says.

    Attributes:
        token: of the holder; ``""`` when nobody holds it.
        beat: counted up with each write, so that no two are alike.
        fence: what an earlier holder had begun to write may still succeed.
    """

    token: str = ""
    beat: int = 0
    holder: str = ""
    since: str = ""
    alone: bool = False
    fence: bool = False


class ObjectLock(WriteLock):
    """The write lock of one index on object storage.

    Args:
        objects: of the index.
        where: it is, for messages.
    """

    def __init__(self, objects: Objects, where: object) -> None:
        super().__init__()
        self._objects = objects
        self._where = where
        self._token = secrets.token_hex(8)
        self._guard = threading.RLock()
        self._state = _State()
        self._seen: Seen | None = None
        self._written_at = (0.0, 0.0)
        self._is_mine = False
        self._released = threading.Event()

    @contextmanager
    def alone(self) -> Iterator[None]:
        before = self._state.alone
        self._change(alone=True)
        try:
            yield
        finally:
            # Where the storage cannot be reached now, the next write tells.
            with suppress(OSError, LancebrainError):
                self._change(alone=before)

    def check(self) -> None:
        if not self.is_held:
            raise UsageError("Only the holder of the index lock may write: `with store.lock(…):`.")
        if not self._is_mine or _ages(self._written_at) > _FRESH_S:
            self._change()

    def renew(self) -> None:
        """Make sure now, by writing it again, that the lock is held.

        Raises:
            IndexLockedError: another process took it over.
            StoreError: the storage cannot be reached.
        """
        self._change()

    @property
    def is_fence_due(self) -> bool:
        return self._state.fence

    def fenced(self) -> None:
        self._change(fence=False)

    def _acquire(self, timeout_s: float, *, alone: bool) -> None:
        deadline = time.monotonic() + timeout_s
        watched: Seen | None = None
        since = time.monotonic()
        with translated(self._where, "taking the lock"):
            while True:
                seen = self._objects.get(NAME)
                if watched is None or seen is None or seen.content != watched.content:
                    watched, since = seen, time.monotonic()
                state = _read(seen)
                still_s = time.monotonic() - since
                is_stale = still_s >= (ALONE_STILL_S if state.alone else STILL_S)
                # One's own is of a write whose answer was lost; what went along with it may be
                # on its way still, so that this is a taking over, too.
                is_free = state.token in ("", self._token) or is_stale
                if is_free and self._taken(seen, state, alone=alone):
                    break
                if time.monotonic() >= deadline:
                    raise self._locked_error(timeout_s, state)
                time.sleep(_POLL_S * random.uniform(0.5, 1.5))  # noqa: S311
        self._released = threading.Event()
        threading.Thread(
            target=self._beat, args=(self._released,), name="lancebrain-lock", daemon=True
        ).start()

    def _release(self) -> None:
        self._released.set()
        with self._guard:
            # What cannot be told is found out by the others, who watch.
            if self._is_mine:
                with suppress(OSError, SupersededError, LancebrainError):
                    self._write(replace(self._state, token="", alone=False))
            self._is_mine = False

    def _taken(self, seen: Seen | None, state: _State, *, alone: bool) -> bool:
        """Take the lock, free or from one that does not go on; False when another was first."""
        mine = _State(
            token=self._token,
            beat=state.beat,
            holder=f"process {os.getpid()} on {platform.node()}",
            since=datetime.now(UTC).isoformat(timespec="seconds"),
            alone=alone,
            fence=state.fence or bool(state.token),
        )
        with self._guard:
            self._seen = seen
            try:
                self._write(mine)
            except SupersededError:
                return False
            self._is_mine = True
            return True

    def _change(self, **changes: bool) -> None:
        """Write that the lock is held, and see by it that it is.

        Raises:
            IndexLockedError: another process took it over.
            StoreError: the storage cannot be reached.
        """
        with self._guard, translated(self._where, "keeping the lock"):
            if not self._is_mine:
                raise self._lost_error()
            try:
                self._write(replace(self._state, **changes))  # type: ignore[arg-type]
            except SupersededError:
                self._is_mine = False
                raise self._lost_error() from None

    def _write(self, state: _State) -> None:
        state = replace(state, beat=state.beat + 1)
        now = _now()
        try:
            seen = self._objects.put_if(NAME, _content(state), self._seen)
        except SupersededError:
            # What this lock wrote before may have come through, and its answer not.
            found = self._objects.get(NAME)
            there = _read(found)
            if there.token != self._token:
                raise
            state = replace(state, beat=there.beat + 1)
            seen = self._objects.put_if(NAME, _content(state), found)
        self._seen, self._state, self._written_at = seen, state, now

    def _beat(self, released: threading.Event) -> None:
        """Write again and again while the lock is held, in a thread of its own."""
        while not released.wait(PULSE_S):
            with suppress(LancebrainError):  # told to whoever writes next
                if not self._is_mine:
                    return
                with self._guard:
                    if not released.is_set() and self._is_mine:
                        self._change()

    def _lost_error(self) -> IndexLockedError:
        return IndexLockedError(
            f"This process did not reach {self._where} for so long that another one took over.",
            hint="Run the command again.",
        )

    def _locked_error(self, timeout_s: float, state: _State | None = None) -> IndexLockedError:
        by = f"{state.holder} since {state.since}" if state and state.holder else "another thread"
        return IndexLockedError(
            f"The index in {self._where} is locked by {by}; waited {timeout_s:g} s.",
            hint="Wait for it to finish, or end that process.",
        )


def _read(seen: Seen | None) -> _State:
    if seen is None:
        return _State()
    try:
        return _State(**json.loads(seen.content))
    except (ValueError, TypeError):
        return _State()


def _content(state: _State) -> bytes:
    return json.dumps(asdict(state)).encode()


def _now() -> tuple[float, float]:
    return time.monotonic(), time.time()


def _ages(then: tuple[float, float]) -> float:
    """Seconds since then by the clock that says more: a machine that slept stops one of them."""
    return max(now - before for now, before in zip(_now(), then, strict=True))
