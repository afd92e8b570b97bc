"""Who asks goes first: what is done in the background waits while a question is answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_S = 0.5
"""Longer than most questions take. A piece of work in the background takes an eighth of a second,
so that it has a fifth of the time at least, however many questions come. Some of it is done under
the index lock, which others wait for."""
_LATELY_S = 5.0


class Courtesy:
    """Knows whether a question is being answered in this process. Threads may share it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._asked = 0
        self._free = threading.Event()
        self._free.set()
        self._asked_at = -_LATELY_S

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A question is answered while the block runs."""
        with self._guard:
            self._asked += 1
            self._asked_at = time.monotonic()
            self._free.clear()
        try:
            yield
        finally:
            with self._guard:
                self._asked -= 1
                if not self._asked:
                    self._free.set()

    def give_way(self) -> None:
        """Wait, for a while at most, until no question is being answered."""
        self._free.wait(_MOST_S)

    def is_asked(self) -> bool:
        """Whether there was a question a moment ago, so that another may come."""
        return time.monotonic() - self._asked_at < _LATELY_S
