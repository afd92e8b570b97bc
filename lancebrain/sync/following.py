"""Which folders are watched, and whether that can be relied on; if not, polling it is.

Between the watchers, which know folders, and the worker, which knows documents. Events go missing
for good reasons (a network drive, a container, a limit of the system) and mostly in silence, so
they have to prove themselves: a canary at the start and with every full look, and no full look
may find what no event told of.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lancebrain.sources import document_path, file_of, source_of
from lancebrain.types import Source

from .events import Hints, hints_of, without_lost
from .run import Run
from .watcher import RECURSIVE, Events, Watcher, can_sing
from .watchstate import WatchState

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.sources import IgnoreRules

_START_S = 5.0
_CHECK_S = 2.0
_HEAR_S = 0.5
_MOST_WATCHERS = 4
_EVENT_AGE_S = 3.0
"""An event comes within milliseconds; a change older than this should have been told."""
_MOST_MISSED = 2


class Following:
    """The watchers of one index.

    Args:
        settings: sources to follow, and whether to rely on events at all.
        told: is handed hints, in a thread of a watcher.
    """

    def __init__(self, settings: Settings, told: Callable[[Hints], None]) -> None:
        self.settings = settings
        self._told = told
        self._rules: dict[str, IgnoreRules] = {}
        self._guard = threading.Lock()
        self._changing = threading.Lock()
        self._watchers: list[Watcher] = []
        self._watched: set[str] = set()
        self._lost_meanwhile: set[str] = set()
        self._missed = 0
        self._may_return = False
        self._reason = "use_polling is set" if settings.use_polling else ""

    def state(self, look_interval_s: float) -> WatchState:
        """How the files are followed now."""
        return WatchState(
            "polling" if self._reason else "events",
            self._reason,
            len(self._watched),
            look_interval_s,
        )

    @property
    def is_polling(self) -> bool:
        return bool(self._reason)

    def update(self, run: Run, *, is_full: bool) -> None:
        """Watch what a look went through; folders that were not watched before are told to be
        looked at once more.

        Args:
            is_full: all sources were looked at, so that other folders are not there any more.
        """
        self._rules = self._rules | run.rules
        returns = is_full and self._may_return and can_sing(self._canary)
        if (self._reason and not returns) or not run.states:
            return
        with self._changing:
            folders = set(self._to_watch(run))
            with self._guard:
                self._watched = (
                    set() if returns else without_lost(self._watched, self._roots_away(run))
                )
                if is_full:
                    self._watched &= folders
                new = folders - self._watched
            if new and self._watch(new):
                self._told(self._of_new(new))
                if returns:
                    self._reason, self._may_return = "", False

    def _of_new(self, folders: Collection[str]) -> Hints:
        if self._watched == folders or len(folders) > _MOST_WATCHERS * 10:
            return Hints(everything=True)
        places = ((source_of(self.settings.sources, Path(folder)), folder) for folder in folders)
        paths = (document_path(source, Path(folder)) for source, folder in places if source)
        return Hints(paths=dict.fromkeys(paths))

    def hears(self) -> bool:
        """Whether the events of all that happened so far were handed on, after a moment's wait."""
        with self._changing:  # what a new watcher has missed is told by then
            watchers = list(self._watchers)
        if all(watcher.hears(_HEAR_S) for watcher in watchers):
            return True
        self._begin_anew_if_cut_off(watchers)
        return False

    def check(self, found: Iterable[str]) -> None:
        """See whether events still arrive.

        Args:
            found: documents that a full look found new or changed and no event told of.
        """
        self._count_missed(found)
        deaf = [watcher for watcher in self._watchers if not watcher.hears(_CHECK_S)]
        self._begin_anew_if_cut_off(deaf)
        # One that was stopped meanwhile, as another took its place, hears nothing rightly.
        if can_sing(self._canary) and any(watcher in self._watchers for watcher in deaf):
            self._give_up("file events do not arrive any more")

    def stop(self) -> None:
        """Watch no more."""
        with self._guard:
            stopped, self._watchers = self._watchers, []
        for watcher in stopped:
            watcher.stop()

    def _watch(self, new: Collection[str]) -> bool:
        """Begin to watch folders; False when that fails."""
        joined = len(self._watchers) >= _MOST_WATCHERS
        with self._guard:
            self._lost_meanwhile = set()
            folders = self._watched | set(new) if joined else set(new)
        watcher = Watcher(folders, self._canary, self._heard, self._give_up)
        try:
            watcher.start()
        except OSError as error:
            self._may_return = True  # when it can be seen again
            self._give_up(f"whether file events arrive cannot be seen: {error.strerror}")
            return False
        if not watcher.hears(_START_S):
            watcher.stop()
            self._may_return = False
            self._give_up("file events do not arrive")
            return False
        with self._guard:
            before = self._watchers if joined else []
            self._watchers = [*([] if joined else self._watchers), watcher]
            # One that was deleted meanwhile, and is there again, is another folder.
            self._watched |= without_lost(folders, self._lost_meanwhile)
        for old in before:
            old.stop()
        return True

    def _heard(self, events: Events) -> None:
        hints = hints_of(events, self.settings.sources, self._rules)
        if hints.lost:
            with self._guard:
                self._watched = without_lost(self._watched, hints.lost)
                self._lost_meanwhile |= hints.lost
        if hints.paths or hints.everything:
            self._told(hints)

    def _count_missed(self, found: Iterable[str]) -> None:
        sources = {source.name: source for source in self.settings.sources}
        if any(_is_old(sources.get(path.partition("/")[0]), path) for path in found):
            self._missed += 1
            if self._missed >= _MOST_MISSED and not self._reason:
                self._give_up("files change without an event, as on a network drive")

    def _begin_anew_if_cut_off(self, watchers: Iterable[Watcher]) -> None:
        """Watch everything anew where the index folder, and the canary's with it, was taken
        away."""
        if any(watcher.is_cut_off for watcher in watchers if watcher in self._watchers):
            self._told(Hints(everything=True))  # first: who hears nothing now is to wait for it
            self.stop()
            with self._guard:
                self._watched = set()

    @property
    def _canary(self) -> Path:
        return self.settings.index / "watch"

    def _give_up(self, reason: str) -> None:
        if not self._reason:
            self._reason = reason
            self._told(Hints(everything=True))
            self.stop()

    def _to_watch(self, run: Run) -> Iterable[str]:
        if not RECURSIVE:
            return run.folders
        there = (s for s in self.settings.sources if run.states.get(s.name) in ("ok", "empty"))
        return (str(source.root) for source in there)

    def _roots_away(self, run: Run) -> list[str]:
        return [
            str(source.root)
            for source in self.settings.sources
            if run.states.get(source.name) in ("missing", "unreadable")
        ]


def _is_old(source: Source | None, path: str) -> bool:
    """Whether a file changed so long ago that an event must have told of it."""
    if source is None:
        return False
    try:
        stat = file_of(source, path).stat()
    except OSError:
        return False
    return time.time() - max(stat.st_mtime, stat.st_ctime) > _EVENT_AGE_S
