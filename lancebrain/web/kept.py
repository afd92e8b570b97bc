"""What takes seconds to work out of a version, kept until the index has another one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from lancebrain.brain.pulse import pulse_of

if TYPE_CHECKING:
    from lancebrain.brain import Brain

_T = TypeVar("_T")


class Kept(Generic[_T]):
    """The last result of some work; who asks meanwhile waits for the same.

    Args:
        work: on the newest version of an index.
    """

    def __init__(self, work: Callable[[Brain, int], _T]) -> None:
        self._work = work
        self._guard = threading.Lock()
        self._last: tuple[tuple[str, int], _T] | None = None

    def of_now(self, brain: Brain) -> _T:
        """The result for the newest version.

        Raises:
            LancebrainError: the index cannot be read.
        """
        with self._guard:
            pulse = pulse_of(brain)
            version = pulse.table, pulse.version
            if self._last is None or self._last[0] != version:
                self._last = version, self._work(brain, pulse.version)
            return self._last[1]
