"""Which marks have been looked at, and waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Seen:
    """How far looks have come. They may go on within looks: then what they were at is seen when
    the outermost has ended, as that may be at older marks.

    Attributes:
        mark: all marks up to this one have been looked at.
    """

    def __init__(self) -> None:
        self.mark = 0
        self._inside = 0
        self._open = 0
        self._news = asyncio.Event()

    @contextmanager
    def looking(self, mark: int) -> Iterator[None]:
        """A look that takes up all that is left to be looked at, up to a mark; 0 where it does
        not. If it fails, nothing is seen."""
        self._open += 1
        try:
            yield
            self._inside = max(self._inside, mark)
            if self._open == 1:
                self.mark = max(self.mark, self._inside)
                self._news.set()
        except BaseException:
            self._inside = 0
            raise
        finally:
            self._open -= 1

    async def until(self, mark: int, is_over: Callable[[], bool]) -> bool:
        """Wait until a mark is seen; whether it is, as the waiting may be over before."""
        while self.mark < mark and not is_over():
            self._news.clear()
            await self._news.wait()
        return self.mark >= mark

    def wake(self) -> None:
        """Have everybody see whether the waiting is over."""
        self._news.set()
