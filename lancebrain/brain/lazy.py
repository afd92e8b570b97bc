"""A value that is made when it is first needed, once, whichever thread comes first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Lazy(Generic[_T]):
    """Calls ``make`` on the first use; when that raises, the next use tries again."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._guard = threading.Lock()
        self._made: list[_T] = []

    def __call__(self) -> _T:
        """The value."""
        with self._guard:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    @property
    def made(self) -> bool:
        """Whether the value is there already."""
        return bool(self._made)
