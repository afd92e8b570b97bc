"""Following the files as they change: one loop that looks, commits, and fills in when idle.

The watcher says where to look; the loop looks there at once, at everything on start, on request,
after a burst and every now and then. Long work goes in steps of one batch, and paths that became
dirty meanwhile go first. All of it runs in one thread at a time, beside the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lancebrain.errors import EmbedderError, IndexLockedError, LancebrainError
from lancebrain.store import TINY_PIECES
from lancebrain.types import Problem, Progress, SyncReport

from .backfill import waiting
from .collector import Change
from .dirty import Dirty
from .events import Hints
from .following import Following
from .hearing import Hearing
from .run import Run
from .seen import Seen
from .standing import StandingProblems
from .steps import end, step
from .timetable import Timetable
from .wanted import Wanted
from .watchstate import WatchRecord, WatchState

if TYPE_CHECKING:
    from lancebrain.config import Settings

    from .engine import Engine

_PART = 200
"""So many dirty paths are looked at in one go, so that the newest never wait for long."""
_NESTED = 3
"""Work that goes before work that goes before work, and no further."""
_IDLE_S = 5.0
"""After so long without a change the index is maintained, if it pays."""
_BETWEEN_EDITS_S = 0.1
"""After so long without a change small pieces are joined, if commits have left enough of them."""


class Worker:
    """Keeps an index equal to its files until it is stopped.

    Args:
        engine: does the work; nobody else may use it meanwhile.
        reload: gives the settings as they are now; new sources take effect with the next look.
        on_report: is told of every sync that had something to do, and of the first that went well
            after one that did not.
        on_error: is told what kept a sync from being done; it is tried again.

    Attributes:
        looked_at: when everything was looked at last; None before the first time.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        reload: Callable[[], Settings] | None = None,
        on_report: Callable[[SyncReport], None] | None = None,
        on_error: Callable[[LancebrainError], None] | None = None,
        on_problem: Callable[[Problem], None] | None = None,
        give_way: Callable[[], None] | None = None,
        is_asked: Callable[[], bool] | None = None,
    ) -> None:
        self._engine = engine
        self._reload = reload or (lambda: engine.settings)
        self._on_report = on_report or _ignore
        self._on_error = on_error or _ignore
        self._problems = StandingProblems(on_problem or _ignore)
        self._give_way = give_way or (lambda: None)
        self._is_asked = is_asked
        self._dirty = Dirty(engine.knows)
        self._following = Following(engine.settings, self._hear)
        self._record = WatchRecord(engine.store.folder)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._hearing = Hearing(self._following.hears)
        self._stopping = False
        self.looked_at: datetime | None = None
        self._seen = Seen()
        self._polls = False
        self._times = Timetable(engine.settings.look_interval_s)
        self._gives_turn = False
        self._last_change = time.monotonic()
        self._depth = 0
        self._lacks_vectors = self._considers_model = True
        self._maintains = False
        self._commits = 0
        self._has_failed = False
        self._loading: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None

    @property
    def state(self) -> WatchState:
        """How the files are followed now."""
        return self._following.state(self._times.interval_s)

    @property
    def is_behind(self) -> bool:
        """Whether something that was heard of or marked has not been looked at yet."""
        return self._seen.mark < self._dirty.marked

    def mark(self, paths: Iterable[str], gone: Iterable[str] = ()) -> None:
        """Tell of document paths and folders that may have changed, from the loop's thread.

        Args:
            gone: those of them that were seen to go.
        """
        self._dirty.mark(paths, gone)
        self._wake.set()

    def mark_everything(self) -> None:
        """Ask for a full look, from the loop's thread."""
        self._dirty.mark_everything()
        self._times.resume()
        self._wake.set()

    def stop(self) -> None:
        """End :meth:`run` after the step it is at, from the loop's thread."""
        self._stopping = True
        self._wake.set()

    async def settle(self) -> bool:
        """Wait until all that was saved or marked so far has been looked at; False where that
        will not be, as it is being stopped."""
        if self._following.is_polling:
            self.mark_everything()  # as nobody else would tell of it
        else:
            await self._hearing.so_far(lambda: self._stopping)
        return await self._seen.until(self._dirty.marked, lambda: self._stopping)

    async def run(self) -> None:
        """Follow the files until :meth:`stop`; begins with a look at everything."""
        self._loop = asyncio.get_running_loop()
        self.mark_everything()
        try:
            while not self._stopping:
                await self._one()
        finally:
            self._stopping = True
            self._seen.wake()
            await asyncio.to_thread(self._following.stop)
            for beside in filter(None, (self._loading, self._checking)):
                await beside
            self._record.clear()

    async def _one(self) -> None:
        """The most urgent thing there is to do."""
        try:
            if self._dirty:
                await self._look_at_dirty()
            looks = self._is_look_due() and not self._gives_turn
            rested_s = time.monotonic() - self._last_change
            # Where there are no events each question asks for a look: the rest has its turn.
            self._gives_turn = looks and self._following.is_polling
            if looks:
                await self._look_at_everything()
            elif self._dirty:
                return
            elif self._lacks_vectors:
                await self._fill()
            elif self._considers_model:
                await self._consider_model()
            elif self._loading is None:
                # Beside the rest: the first save is not to wait for it longer than it must.
                self._loading = asyncio.create_task(asyncio.to_thread(self._engine.load_model))
            elif self._commits > TINY_PIECES and rested_s > _BETWEEN_EDITS_S:
                self._commits = 0
                await asyncio.to_thread(self._engine.join_tiny)
            elif self._maintains and rested_s > _IDLE_S:
                self._maintains = False
                await asyncio.to_thread(self._engine.maintain)
            else:
                await self._wait()
        except IndexLockedError:
            self._times.locked()
            self._maintains = True  # which may be what was locked out
        except LancebrainError as error:
            self._lacks_vectors = False
            self._has_failed = True
            self._times.work_failed()
            self._on_error(error)

    @contextmanager
    def _looking(self, marked: int, gone: Collection[str]) -> Iterator[None]:
        """A look; where it fails, one at everything that knows what went makes up for it, soon."""
        try:
            with self._seen.looking(marked):
                yield
        except LancebrainError:
            self._dirty.mark_everything(gone)
            self._times.look_failed()
            raise

    def _is_look_due(self) -> bool:
        """Whether everything is to be looked at now."""
        return self._times.is_due(is_asked=self._dirty.everything)

    async def _fill(self) -> None:
        """Give vectors to what lacks them; until then it is found by its words."""
        self._lacks_vectors = False
        try:
            if not await self._drive(self._engine.backfill_steps(), breaks=True):
                self._lacks_vectors = True
            self._problems.tell("vectors", None)
        except EmbedderError as error:
            self._problems.tell("vectors", waiting(error))

    async def _consider_model(self) -> None:
        """See whether the index is to have another model, and bring it there."""
        self._considers_model = False
        try:
            await asyncio.to_thread(self._engine.settle_model)
            steps = self._engine.migration_steps()
            self._considers_model = not await self._drive(steps, breaks=True, rests=True)
            self._problems.tell("model", None)
        except EmbedderError as error:
            self._problems.tell("model", Problem("", "model-unavailable", str(error)))

    async def _wait(self) -> None:
        until = self._times.due_s(is_asked=self._dirty.everything)
        if self._commits > TINY_PIECES:
            until = min(until, self._last_change + _BETWEEN_EDITS_S)
        if self._maintains:
            until = min(until, self._last_change + _IDLE_S)
        if not self._is_look_due():
            await self._rest(max(until - time.monotonic(), 0.01))

    async def _look_at_dirty(self) -> None:
        taken = self._dirty.take(_PART)
        marked = 0 if self._dirty or self._dirty.everything else self._dirty.marked
        wanted = Wanted(scope=taken.paths, seen_gone=taken.gone)
        with self._looking(marked, taken.gone):
            run = self._engine.run(wanted, progress=self._between_groups, is_asked=self._is_asked)
            await self._finish(run, is_full=False)

    async def _look_at_everything(self) -> None:
        was_asked = self._dirty.everything
        started = time.monotonic()
        is_routine = self._times.is_due(is_asked=False)
        marked = self._dirty.marked
        gone = self._dirty.take_everything()
        found: list[Change] = []
        with self._looking(marked, gone):
            settings = await asyncio.to_thread(self._reload)
            self._engine.settings = self._following.settings = settings
            run = self._engine.run(
                Wanted(seen_gone=gone),
                on_change=found.append,
                progress=self._between_groups,
                is_asked=self._is_asked,
            )
            await self._finish(run, is_full=True)
        self._times.went_well()
        self.looked_at = datetime.now(UTC)
        looked_s = None
        if self._following.is_polling:
            looked_s = 0.0 if found else time.monotonic() - started
        elif not was_asked and (self._checking is None or self._checking.done()):
            came = [change.path for change in found if change.what in ("added", "changed")]
            # Beside the rest, too: where events come late, it takes seconds.
            self._checking = asyncio.create_task(asyncio.to_thread(self._following.check, came))
        if is_routine or self._polls != self._following.is_polling:
            self._polls = self._following.is_polling
            self._times.begin_interval(settings.look_interval_s, looked_s=looked_s)
            self._lacks_vectors = self._considers_model = True
        self._record.write(self.state)

    async def _finish(self, run: Run, *, is_full: bool) -> None:
        """Take a sync to its end, and follow what it found."""
        steps = run.steps()
        is_left = await asyncio.to_thread(step, steps)
        await asyncio.to_thread(self._following.update, run, is_full=is_full)
        if is_left:
            await self._drive(steps)
        self._maintains |= run.committed
        self._commits += run.committed
        self._lacks_vectors |= run.text_first
        if run.committed:
            self._last_change = time.monotonic()
        if run.committed or self._has_failed:
            self._has_failed = False
            self._on_report(run.report())

    async def _drive(
        self, steps: Iterator[None], *, breaks: bool = False, rests: bool = False
    ) -> bool:
        """Go through steps, and tell whether to the end; what becomes dirty meanwhile goes first.

        Args:
            breaks: stop where a look at everything is due.
            rests: leave the processor alone for as long as each step took.
        """
        self._depth += 1
        try:
            started = time.monotonic()
            while not self._stopping and await asyncio.to_thread(step, steps):
                while self._dirty and self._depth <= _NESTED and not self._stopping:
                    await self._look_at_dirty()
                await asyncio.to_thread(self._give_way)
                if rests:
                    await self._rest(time.monotonic() - started)
                if breaks and self._is_look_due():
                    return False
                started = time.monotonic()
            return not self._stopping
        finally:
            self._depth -= 1
            await asyncio.to_thread(end, steps)

    def _between_groups(self, progress: Progress) -> None:
        if progress.files < progress.files_total:  # a single edit goes through
            self._give_way()

    async def _rest(self, seconds: float) -> None:
        """Wait; what comes in ends it."""
        self._wake.clear()
        if not self._dirty and not self._stopping:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), seconds)

    def _hear(self, hints: Hints) -> None:
        """Take up what a watcher's thread says."""
        with suppress(RuntimeError):  # the loop has ended, and nobody follows any more
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._take_up, hints)

    def _take_up(self, hints: Hints) -> None:
        if hints.everything:
            self.mark_everything()
        if hints.paths:
            self.mark(hints.paths, hints.gone)


def _ignore(_: object) -> None:
    """Nobody listens."""
