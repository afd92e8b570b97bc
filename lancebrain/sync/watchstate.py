"""Whether changes are followed by events or by polling, told to other processes by a file.

One file a following process; a status asks for the newest that has a pulse.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from lancebrain.store.failures import translated

_PULSE_S = 120.0
_LEFT_BEHIND_S = 24 * 3600.0
"""Whoever showed no pulse for so long was killed."""


@dataclass(frozen=True, slots=True)
class WatchState:
    """How a process follows the files.

    Attributes:
        mode: ``events``, or ``polling``: looking at everything again and again.
        reason: why it is polling; ``""`` for events.
        folders: how many are watched.
        look_interval_s: between two full looks.
    """

    mode: Literal["events", "polling"]
    reason: str = ""
    folders: int = 0
    look_interval_s: float = 0.0


class WatchRecord:
    """The states of the processes that follow the files of one index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "watch"

    def read(self) -> WatchState | None:
        """The state of the process that showed its pulse last, if it is recent."""
        newest: tuple[float, Path] | None = None
        for file in self._folder.glob("*.json"):
            try:
                beat = file.stat().st_mtime
            except FileNotFoundError:
                continue
            if time.time() - beat < _PULSE_S and (newest is None or beat > newest[0]):
                newest = beat, file
        if newest is None:
            return None
        try:
            return WatchState(**json.loads(newest[1].read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def write(self, state: WatchState) -> None:
        """Tell this process's state, and that it lives; to be repeated within two minutes.

        Raises:
            StoreError: the folder cannot be written, or is full.
        """
        with translated(self._folder.parent, "telling how files are followed"):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            fresh = self._own.with_suffix(".new")
            fresh.write_text(json.dumps(asdict(state), ensure_ascii=False), encoding="utf-8")
            fresh.replace(self._own)

    def clear(self) -> None:
        """This process follows no more."""
        with suppress(OSError):  # by its age it counts no more in two minutes
            self._own.unlink()

    def _sweep(self) -> None:
        """Delete what processes left behind that were killed, canaries and signs as well."""
        for file in self._folder.glob("*.json"):
            with suppress(OSError):  # another process sweeps as well
                if time.time() - file.stat().st_mtime > _LEFT_BEHIND_S:
                    for left in self._folder.glob(f"{file.stem}-*"):
                        left.unlink()
                    file.unlink()

    @property
    def _own(self) -> Path:
        return self._folder / f"{os.getpid()}.json"
