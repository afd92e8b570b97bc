"""When everything is looked at: now and then, on request, and soon after a look that failed."""

from __future__ import annotations

import time

_PAUSE_S = 1.0
"""After a look that failed; each further one doubles it."""
_MOST_PAUSE_S = 10.0
_MIN_POLL_S = 1.0
_POLL_SHARE = 0.05
"""Of the time, at most, goes into looking at everything when there are no events."""


class Timetable:
    """The times of the looks at everything; the first is due at once.

    Args:
        interval_s: between two looks that nobody asked for.

    Attributes:
        interval_s: as it is now.
    """

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self._next_s = 0.0
        self._resumes_s = 0.0
        self._pause_s = _PAUSE_S

    def due_s(self, *, is_asked: bool) -> float:
        """When the next look is due, in monotonic seconds.

        Args:
            is_asked: somebody waits for one.
        """
        return self._resumes_s if is_asked else self._next_s

    def is_due(self, *, is_asked: bool) -> bool:
        """Whether a look is due now."""
        return time.monotonic() >= self.due_s(is_asked=is_asked)

    def resume(self) -> None:
        """One that is asked for is due, whatever failed before."""
        self._resumes_s = 0.0

    def went_well(self) -> None:
        """The look at everything did, so that one that fails is tried again soon."""
        self._pause_s = _PAUSE_S

    def begin_interval(self, interval_s: float, *, looked_s: float | None) -> None:
        """The next look that nobody asks for is an interval away.

        Args:
            interval_s: as it is configured.
            looked_s: how long a look takes, where looks have to make up for events.
        """
        self.interval_s = interval_s
        if looked_s is not None:
            self.interval_s = min(max(looked_s / _POLL_SHARE, _MIN_POLL_S), interval_s)
        self._next_s = time.monotonic() + self.interval_s

    def look_failed(self) -> None:
        """It is made again, after a pause that grows."""
        self._resumes_s = time.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, _MOST_PAUSE_S)

    def work_failed(self) -> None:
        """What follows from a look is tried again after the next one."""
        self._next_s = time.monotonic() + self.interval_s

    def locked(self) -> None:
        """Another process is at work; it is tried again soon, and as often as it takes."""
        self._next_s = self._resumes_s = time.monotonic() + _PAUSE_S
        self._pause_s = _PAUSE_S
