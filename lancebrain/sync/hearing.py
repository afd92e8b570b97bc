"""Waiting for events that are on their way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Hearing:
    """Rounds of listening; who asks while others wait shares the next one.

    Args:
        hears: whether all events so far were handed on, after a moment's wait; called in a thread.
    """

    def __init__(self, hears: Callable[[], bool]) -> None:
        self._hears = hears
        self._ear = asyncio.Lock()
        self._asked = 0
        self._heard = 0

    async def so_far(self, is_over: Callable[[], bool]) -> None:
        """Wait until the events of all that happened so far were handed on.

        Args:
            is_over: ends the waiting.
        """
        self._asked += 1
        mine = self._asked
        async with self._ear:
            while self._heard < mine and not is_over():
                asked = self._asked
                if await asyncio.to_thread(self._hears):
                    self._heard = asked
