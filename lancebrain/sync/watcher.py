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
from contextlib import suppress
from pathlib import Path

import watchfiles

Events = Collection[tuple[watchfiles.Change, str]]

_STEP_MS = 20
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
        self._folder = canary
        self._sign = canary / f"{os.getpid()}-{id(self)}.watched"
        self._canary = ""
        self._songs = 0
        self._listening = threading.Lock()
        self._deliver = deliver
        self._failed = failed
        self._sang = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lancebrain-watcher", daemon=True)

    def start(self) -> None:
        """Begin to watch; :meth:`hears` tells when all folders are watched.

        Raises:
            OSError: the canary's folder cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self._sign.touch()
        self._thread.start()

    def hears(self, timeout_s: float) -> bool:
        """Whether an event made now arrives within ``timeout_s``; not when none can be made.

        All events of what happened before the call have been delivered then.
        """
        with self._listening:
            self._songs += 1
            canary = self._folder / f"{os.getpid()}-{id(self)}-{self._songs}"
            self._canary = str(canary)
            self._sang.clear()
            deadline = time.monotonic() + timeout_s
            try:
                return self._sings(canary, deadline)
            except OSError:
                # As on a full disk: who asks again and again is to wait all the same.
                if not self.is_cut_off:
                    self._stop.wait(max(deadline - time.monotonic(), 0))
                return False
            finally:
                with suppress(OSError):
                    canary.unlink()

    @property
    def is_cut_off(self) -> bool:
        """Whether the canary's folder was taken away, so that nothing is heard in it any more; one
        of its name may be there again."""
        try:
            self._sign.stat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False  # it may not be looked at, for now
        return False

    def stop(self) -> None:
        """Watch no more; does not wait for the thread, which ends within a second."""
        self._stop.set()
        with suppress(OSError):  # another process may have taken the folder away
            self._sign.unlink()

    def _sings(self, canary: Path, deadline: float) -> bool:
        while self._thread.is_alive() and time.monotonic() < deadline:
            canary.write_text(str(time.monotonic_ns()), encoding="ascii")
            if self._sang.wait(_CANARY_EVERY_S):
                return True
        return False

    def _run(self) -> None:
        # The canary's folder comes last: when it is heard, all others are watched.
        paths = [*sorted(self.folders), str(self._folder)]
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
        own = str(self._folder)
        real = [event for event in events if os.path.dirname(event[1]) != own]  # noqa: PTH120
        if real and not self._stop.is_set():
            self._deliver(real)
        # Last: who waited for it has all that came before it.
        if any(name == self._canary for _, name in events):
            self._sang.set()


def can_sing(canary: Path) -> bool:
    """Whether a canary can be made in a folder, so that not to hear one tells of events."""
    trial = canary / f"{os.getpid()}-{time.monotonic_ns()}.trial"
    try:
        canary.mkdir(exist_ok=True)
        trial.write_text("?", encoding="ascii")
        trial.unlink()
    except OSError:
        return False
    return True
