"""File events of the operating system, from a set of folders, with proof that they arrive.

A thin thread around ``watchfiles``. It knows nothing of sources or documents: it hands on what
changed and says when it cannot. Folders are watched one by one where that costs one inotify
watch each, so that none is spent on what is ignored.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path

import watchfiles

Events = Collection[tuple[watchfiles.Change, str]]

_STEP_MS = 30
"""So long nothing more has to happen before events are handed on; a save is several events."""
_BURST_MS = 400
"""Events are handed on after this at the latest."""
_CANARY_EVERY_S = 0.1
RECURSIVE = sys.platform != "linux"


class Watcher:
    """Watches folders until it is stopped.

    Args:
        folders: absolute names, each watched without those below it (on Linux).
        canary: a folder of our own; a file changed in it shows whether events arrive.
        deliver: is handed the events, in a thread of the watcher's own.
        failed: is told, in that thread, why there will be no more events.
    """

    def __init__(
        self,
        folders: Collection[str],
        canary: Path,
        deliver: Callable[[Events], None],
        failed: Callable[[str], None],
    ) -> None:
        self.folders = frozenset(folders)
        self._canary = canary / f"{os.getpid()}-{id(self)}"
        self._deliver = deliver
        self._failed = failed
        self._sang = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lancebrain-watcher", daemon=True)

    def start(self) -> None:
        """Begin to watch; :meth:`hears` tells when all folders are watched."""
        self._canary.parent.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def hears(self, timeout_s: float) -> bool:
        """Whether an event made now arrives within ``timeout_s``; not when none can be made."""
        self._sang.clear()
        deadline = time.monotonic() + timeout_s
        while self._thread.is_alive() and time.monotonic() < deadline:
            try:
                self._canary.write_text(str(time.monotonic_ns()), encoding="ascii")
            except OSError:
                return False
            if self._sang.wait(_CANARY_EVERY_S):
                return True
        return False

    def stop(self) -> None:
        """Watch no more; does not wait for the thread, which ends within a second."""
        self._stop.set()
        self._canary.unlink(missing_ok=True)

    def _run(self) -> None:
        # The canary's folder comes last: when it is heard, all others are watched.
        paths = [*sorted(self.folders), str(self._canary.parent)]
        try:
            for events in watchfiles.watch(
                *paths,
                watch_filter=None,
                debounce=_BURST_MS,
                step=_STEP_MS,
                stop_event=self._stop,
                rust_timeout=1_000,
                raise_interrupt=False,
                force_polling=False,
                recursive=RECURSIVE,
                ignore_permission_denied=True,
            ):
                self._hand_on(events)
        except (OSError, RuntimeError) as error:
            # RuntimeError is how watchfiles tells of what its backend could not do.
            if not self._stop.is_set():
                self._failed(str(error))

    def _hand_on(self, events: Events) -> None:
        folder = str(self._canary.parent)
        real = [event for event in events if os.path.dirname(event[1]) != folder]  # noqa: PTH120
        if len(real) < len(events):
            self._sang.set()
        if real and not self._stop.is_set():
            self._deliver(real)
