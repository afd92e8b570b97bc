"""Who asks goes first: what is done in the background waits while a question is answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_S = 0.25
"""About as long as a piece of work in the background takes, so that it has some half of the time,
however many questions come. Some of it is done under the index lock, which others wait for."""


class Courtesy:
    """Knows whether a question is being answered in this process. Threads may share it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._asked = 0
        self._free = threading.Event()
        self._free.set()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A question is answered while the block runs."""
        with self._guard:
            self._asked += 1
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
