"""When to look at the files before an answer, so that a question sees a save made just before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable

_DOUBTED_AFTER_S = 1.0
"""What a look did not find so short a time ago is not looked for again."""


class Looking:
    """Known-dirty paths are looked at always, everything not more often than ``interval_s``.

    Args:
        interval_s: at least this long between two full looks.
        clock: monotonic seconds.

    Attributes:
        notes: what may be missing since the last look at everything, for people.
    """

    def __init__(self, *, interval_s: float, clock: Callable[[], float]) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._guard = threading.Lock()
        self._dirty: set[str] = set()
        self._looked_at: float | None = None
        self.notes: tuple[str, ...] = ()

    def mark(self, paths: Iterable[str]) -> None:
        """Document paths that may have changed."""
        with self._guard:
            self._dirty.update(paths)

    def doubt(self, paths: Collection[str] | None) -> bool:
        """Hear that an answer may not be what is on disk; whether a look is due now.

        Args:
            paths: documents that have changed, as the answer shows; none where it is right as far
                as can be told, None where something was not found.
        """
        if paths is not None:
            self.mark(paths)
            return bool(paths)
        with self._guard:
            looked_at, now = self._looked_at, self._clock()
            if looked_at is not None and now - looked_at < _DOUBTED_AFTER_S:
                return False
            self._looked_at = None
            return True

    def looked(self, notes: tuple[str, ...]) -> None:
        """The look at everything that was due has ended, however long it took.

        Args:
            notes: what may be missing from answers until the next one.
        """
        with self._guard:
            self._looked_at = self._clock()
            self.notes = notes

    def done(self) -> None:
        """Everything was just looked at."""
        with self._guard:
            self._dirty.clear()
            self._looked_at = self._clock()
            self.notes = ()

    def due(self) -> tuple[str, ...] | None:
        """What to look at now: document paths, often none, or None for everything.

        It counts as looked at; :meth:`mark` again what could not be.
        """
        with self._guard:
            now = self._clock()
            if self._looked_at is None or now - self._looked_at >= self._interval_s:
                self._dirty.clear()
                self._looked_at = now
                self.notes = ()
                return None
            dirty, self._dirty = self._dirty, set()
            return tuple(sorted(dirty))
