"""Bringing the index up to the disk: the one way in for everything that writes.

A command's sync, the look before an answer and the worker that follows the watcher all call
:class:`Engine`. What one sync does, step by step, is in ``run``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from lancebrain.errors import (
    EmbedderError,
    IndexMismatchError,
    LancebrainError,
    ModelUnavailableError,
    TextsRefusedError,
    UnreachableError,
)
from lancebrain.store import PlannedChange, Store
from lancebrain.types import Problem, Progress, SourceFile, SyncReport

from .ahead import Ahead
from .automatic import Advice, settle
from .backfill import Backfill, waiting
from .collector import Change
from .known import KnownDocuments
from .learning import learn_again
from .look import look
from .lookrecord import LookRecord
from .migration import Migration
from .run import Run
from .vectors import OTHER_MODEL_HINT, Vectors
from .wanted import Wanted

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.embedders.base import Embedder


_AGAIN_S = 1.0
"""After so long, storage that did not answer is asked again."""
_KEEPS_MODEL = "The model that the index has stays."


class Engine:
    """Syncs one index with its sources.

    Args:
        store: the index.
        settings: sources and limits.
        provider: gives the loaded model of the index; not called before a text has to be embedded.
        clock: the wall clock in nanoseconds since 1970.
        planned: gives the loaded model that the index is to have.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        provider: Callable[[], Embedder],
        clock: Callable[[], int] = time.time_ns,
        planned: Callable[[PlannedChange], Embedder] | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self._vectors = Vectors(store, provider)
        self._known = KnownDocuments()
        self._clock = clock
        self._planned = planned or (lambda _: provider())
        self._learned_at = 0

    def sync(
        self,
        paths: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        confirm_removals: bool = False,
        seen_gone: Collection[str] = (),
        dropped: Collection[str] = (),
        fill: bool = True,
        progress: Callable[[Progress], None] | None = None,
        on_change: Callable[[Change], None] | None = None,
        cancel: threading.Event | None = None,
        ahead: Ahead | None = None,
    ) -> SyncReport:
        """Look at the disk and make the index equal to it.

        Args:
            paths: document paths, folders or source names to look at; nothing outside of them
                is touched. None for all sources.
            dry_run: write nothing; the report tells what would be done.
            confirm_removals: documents may go also where most of a source is gone.
            seen_gone: document paths and folders that whoever calls saw go, so that they need
                no confirmation.
            dropped: names of sources whose documents are to go, whatever ``paths`` says.
            fill: also give vectors to the rows that lack one, before returning.
            progress: is told how far it has come.
            on_change: is told of each document that is added, changed, moved or removed.
            cancel: when set, the sync ends after the batch it is at.
            ahead: parsed files before; then all goes into one commit, or a few large ones.

        Raises:
            IndexMismatchError: the configured model is not the one of the index.
            IndexLockedError: another process held the lock for longer than the settings allow.
            EmbedderError: the model failed; whole batches that were committed before stay.
            StoreError: the index cannot be read or written.
        """
        wanted = Wanted(
            scope=paths,
            dry_run=dry_run,
            agreed=confirm_removals,
            dropped=dropped,
            seen_gone=seen_gone,
        )
        cancel = cancel or threading.Event()
        run = self._through(wanted, progress, on_change, cancel, ahead)
        waits: tuple[Problem, ...] = ()
        embedded_before = run.embedded
        if fill and not dry_run and not cancel.is_set() and (paths is None or run.text_first):
            embedded, waits = self.fill(progress=progress, cancel=cancel)
            run.embedded += embedded
        if run.committed:
            self.maintain()
        report = run.report()
        if run.embedded > embedded_before:  # then that is in a later version
            report = replace(report, version=self.store.snapshot().version)
        return replace(report, problems=(*report.problems, *waits)) if waits else report

    def _through(
        self,
        wanted: Wanted,
        progress: Callable[[Progress], None] | None,
        on_change: Callable[[Change], None] | None,
        cancel: threading.Event,
        ahead: Ahead | None,
    ) -> Run:
        """Take a sync to its end.

        Where the storage of the index stops answering, what was being written may be there or
        not. So the files are looked at again and the rest is planned anew, from what is there.
        """
        deadline = time.monotonic() + self.settings.lock_timeout_s
        while True:
            run = self.run(wanted, progress=progress, on_change=on_change, ahead=ahead)
            try:
                for _ in run.steps():
                    if cancel.is_set():
                        break
                return run
            except UnreachableError:
                if time.monotonic() >= deadline or cancel.wait(_AGAIN_S):
                    raise
                self._known = KnownDocuments()

    def run(
        self,
        wanted: Wanted,
        *,
        progress: Callable[[Progress], None] | None = None,
        on_change: Callable[[Change], None] | None = None,
        ahead: Ahead | None = None,
        is_asked: Callable[[], bool] | None = None,
    ) -> Run:
        """A sync to be taken step by step, so that other work can go in between.

        Args:
            progress, on_change, ahead: as for :meth:`sync`.
            is_asked: whether questions come, so that commits had better be small.

        Raises:
            IndexMismatchError: the configured model is not the one of the index.
        """
        self._check_model()
        return Run(
            self.store,
            self.settings,
            self._vectors,
            self._known,
            self._clock,
            wanted,
            progress=progress or _ignore,
            on_change=on_change or _ignore,
            ahead=ahead,
            is_asked=is_asked or (lambda: False),
        )

    def files_to_read(self, paths: Sequence[str] | None = None) -> list[SourceFile]:
        """The files that a sync would read now, in the order in which it does.

        Args:
            paths: as for :meth:`sync`.
        """
        snapshot = self.store.snapshot()
        known = KnownDocuments().at(snapshot, self.store.info.table_id)
        left_out = self.store.forgotten.matcher()
        found = look(self.settings, known, self._clock, scope=paths, left_out=left_out)
        return found.changed

    def fill(
        self,
        *,
        progress: Callable[[Progress], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> tuple[int, tuple[Problem, ...]]:
        """Give vectors to what lacks one, as far as the model can.

        Returns:
            How many texts were embedded, and what keeps others from their vector.

        Raises:
            EmbedderError: the model failed on all texts; what it gave before is in the table.
            IndexLockedError: another process held the lock for longer than the settings allow.
        """
        embedded = 0
        problems: list[Problem] = []
        try:
            if self._learn_again():
                embedded = self.migrate(progress=progress, cancel=cancel).embedded
        except EmbedderError as error:
            # What it has learned so far goes on being of use.
            problems.append(Problem("", "model-unavailable", f"{error} {_KEEPS_MODEL}"))
        backfill = Backfill(self.store, self.settings, self._vectors)
        try:
            backfill.run(progress or _ignore, cancel or threading.Event())
        except (ModelUnavailableError, TextsRefusedError) as error:
            problems.append(waiting(error))
        return embedded + backfill.embedded, tuple(problems)

    def backfill_steps(self) -> Generator[None]:
        """The same in steps of a fraction of a second, without learning anew; ends when nothing is
        lacking.

        Raises:
            EmbedderError: the model failed on some texts, or on all; what it gave is in the table.
        """
        return Backfill(self.store, self.settings, self._vectors).steps()

    def migrate(
        self,
        *,
        progress: Callable[[Progress], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> Migration:
        """Bring the index to the model that is planned for it, if one is.

        Raises:
            EmbedderError: the model cannot be had, or failed; what it gave before is kept.
            IndexLockedError: another process held the lock for longer than the settings allow.
        """
        migration = Migration(self.store, self.settings, self._planned)
        migration.run(progress or _ignore, cancel or threading.Event())
        return migration

    def migration_steps(self) -> Iterator[None]:
        """The same in steps of a fraction of a second; ends when there is nothing to do."""
        return Migration(self.store, self.settings, self._planned).steps()

    def settle_model(self) -> Advice | None:
        """Decide on the model, where that is left to the index and was never decided; and let one
        that learns from the texts learn again.

        Raises:
            EmbedderError: the better model is there and does not work.
            IndexLockedError: another process held the lock for longer than the settings allow.
        """
        self._learn_again()
        if not self.settings.is_auto:
            return None
        return settle(self.store, self._planned, lock_timeout_s=self.settings.lock_timeout_s)

    def maintain(self) -> bool:
        """Compact, refresh indices and clean up when it pays; whether it did."""
        keep = timedelta(days=self.settings.keep_versions_days)
        if not self.store.needs_maintenance(keep_versions=keep):
            return False
        with self.store.lock(self.settings.lock_timeout_s):
            self.store.maintain(keep_versions=keep, only_due=True)
        return True

    def join_tiny(self) -> None:
        """Keep the index quick while edit follows edit, see :meth:`Store.join_tiny`."""
        with self.store.lock(self.settings.lock_timeout_s):
            self.store.join_tiny()

    def _learn_again(self) -> bool:
        """Let a model that learns from the texts learn again if it should; whether it did."""
        version = self.store.snapshot().version
        if version == self._learned_at:
            return False
        self._learned_at = version
        return learn_again(self.store, lock_timeout_s=self.settings.lock_timeout_s)

    def _check_model(self) -> None:
        """Make sure that nobody expects another model than the index has."""
        settings, model = self.settings, self.store.snapshot().info.model
        if settings.is_auto or settings.model == model or self.store.hold.is_set():
            return
        planned = self.store.plan.read()
        if planned is None or planned.model != settings.model:
            raise IndexMismatchError(
                f"The index in {self.store.storage} has the model {model!r}, and "
                f"{settings.model!r} is configured.",
                hint=OTHER_MODEL_HINT.format(model=settings.model),
            )

    def load_model(self) -> None:
        """Have the model ready before a text comes. What keeps it from that is told then."""
        with suppress(LancebrainError):
            self._vectors.load()

    def knows(self, path: str) -> bool:
        """Whether the index had a document of this path when a sync of this engine ended last."""
        return self._known.has(path)

    def problems(self) -> tuple[Problem, ...]:
        """What the last full look could not take in; the rest is in the document rows."""
        return LookRecord(self.store.folder).read()


def _ignore(_: object) -> None:
    """Nobody listens."""
