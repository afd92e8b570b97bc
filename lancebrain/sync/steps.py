"""Taking work that is done in steps, one at a time, from a thread."""

from __future__ import annotations

from collections.abc import Iterator

_END = object()


def step(steps: Iterator[None]) -> bool:
    """Take one step; False when there was none left."""
    return next(steps, _END) is not _END


def end(steps: Iterator[None]) -> None:
    """End what may not have come to its end.

    Raises:
        Whatever its end raises.
    """
    close = getattr(steps, "close", None)
    if close is not None:
        close()
