"""What the locks of an index have in common: reentrant within a thread, exclusive across all."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from lancebrain.errors import IndexLockedError


class WriteLock(ABC):
    """The write lock of one index; how it is held is told by where the index is."""

    def __init__(self) -> None:
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def held(self, timeout_s: float, *, alone: bool = False) -> Iterator[None]:
        """Hold the lock for the block.

        Args:
            timeout_s: how long to wait for another holder; 0 does not wait.
            alone: see :meth:`alone`.

        Raises:
            IndexLockedError: it was held for longer, by whom and since when.
            StoreError: it may not be written there.
        """
        if not self._threads.acquire(timeout=max(timeout_s, 0)):
            raise self._locked_error(timeout_s)
        try:
            if self._depth == 0:
                self._acquire(timeout_s, alone=alone)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._release()
        finally:
            self._threads.release()

    @abstractmethod
    def alone(self) -> AbstractContextManager[None]:
        """Let nobody take the lock over during the block, which the holder calls.

        For what goes on outside of the table's versions, where it cannot be made to fail.
        """

    @abstractmethod
    def check(self) -> None:
        """Make sure that the lock is held, by some thread of this process.

        Raises:
            UsageError: it was not taken.
            IndexLockedError: another process took it over.
        """

    @property
    @abstractmethod
    def is_fence_due(self) -> bool:
        """Whether it was taken over, and what the other had begun to write may still succeed."""

    @abstractmethod
    def fenced(self) -> None:
        """Note that nothing can succeed any more that was begun before it was taken over."""

    @property
    def is_nested(self) -> bool:
        """Whether it was held already when it was taken last."""
        return self._depth > 1

    @property
    def is_held(self) -> bool:
        """Whether some thread of this process holds it."""
        return self._depth > 0

    @abstractmethod
    def _acquire(self, timeout_s: float, *, alone: bool) -> None: ...

    @abstractmethod
    def _release(self) -> None: ...

    @abstractmethod
    def _locked_error(self, timeout_s: float) -> IndexLockedError: ...
