"""The facade: one index with its sources, and everything one can do with it.

Fronts (command line, tool servers, web) call this and nothing below it. Nothing is opened,
imported or loaded before it is needed: a keyword search never loads the model.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from lancebrain.brain.access import Access
from lancebrain.brain.data import Data
from lancebrain.brain.ledger import Ledger
from lancebrain.brain.looking import Looking
from lancebrain.brain.models import Models
from lancebrain.brain.sourcebook import SourceBook
from lancebrain.brain.timeline import Timeline
from lancebrain.errors import UsageError
from lancebrain.types import Problem, Progress, Source, SourceStatus, SyncReport

if TYPE_CHECKING:
    from lancebrain.brain.programs import AddedLogs
    from lancebrain.config import Settings
    from lancebrain.doctor import Diagnosis
    from lancebrain.embedders import Embedder
    from lancebrain.sync import Engine
    from lancebrain.sync.ahead import Ahead


class Brain(Timeline, Data, Models):
    """An index: bring it up to the files, ask it, go back in time, look after it.

    What answers is in :class:`lancebrain.brain.asking.Asking`, what knows versions in
    :class:`Timeline`, what gives data in :class:`lancebrain.brain.data.Data`, what knows models in
    :class:`lancebrain.brain.models.Models`.

    A context manager. Safe to use from several threads.

    Args:
        load: reads the settings; called again when the sources change.
        origin: where the sources are configured: a file, or a word for another place.
        embedder: a loaded model in place of the configured one.
        clock: monotonic seconds, for the time between two looks at the files.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        *,
        origin: str = "settings",
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._access = Access(load, embedder)
        self._book = SourceBook(self._access, origin)
        self._origin = origin
        self._looking = Looking(interval_s=self.settings.look_interval_s, clock=clock)

    def sync(
        self,
        paths: Iterable[Path | str] = (),
        *,
        dry_run: bool = False,
        confirm_removals: bool = False,
        progress: Callable[[Progress], None] | None = None,
        engine: Literal["local", "ray"] = "local",
        address: str | None = None,
        workers: int | None = None,
    ) -> SyncReport:
        """Make the index equal to the files; an index that does not exist is made.

        Args:
            paths: files and folders to look at, nothing outside of them is touched; a folder
                that is in no source yet becomes one, named after it and remembered with the
                index. None given: all sources.
            dry_run: write nothing; the report tells what would be done.
            confirm_removals: documents may go also where most of a source is gone, or where
                their source is configured nowhere.
            progress: is told how far it has come.
            engine: ``ray`` has files parsed and texts embedded on a Ray cluster before.
            address: of the cluster; None: the one that the environment names, else this machine.
            workers: on the cluster; None: one for each of its processors.

        Returns:
            What was done. Its problems are those of sources, and those of files that are new;
            :meth:`status` tells all.

        Raises:
            UsageError: a path that does not exist, or nothing to index.
            IndexMismatchError: the index was made with another model.
            IndexLockedError: another process held the lock for longer than the settings allow.
            EmbedderError: the model failed; what was committed before stays.
            StoreError: the index cannot be read or written.
        """
        scope, added = self._book.scope(paths, remember=not dry_run)
        if not self.settings.sources and not added:
            raise UsageError(
                "There is nothing to index yet.", hint="Name a folder: lancebrain sync FOLDER"
            )
        if dry_run:
            return self._dry_run(scope, added, confirm_removals, progress)
        store = self._access.made_store()
        syncing = self._access.engine()
        told = set(syncing.problems())
        with self._ahead(engine, syncing, scope, address, workers, progress) as ahead:
            report = syncing.sync(
                scope,
                confirm_removals=confirm_removals,
                dropped=self._dropped(confirm_removals) if scope is None else (),
                progress=progress,
                ahead=ahead,
            )
        if scope is None and store.hold.read() is None:
            names = [source.name for source in self.settings.sources]
            with store.lock(self._timeout_s):
                Ledger(store.folder).record(self._origin, names)
            self._looking.done()
        news = (problem for problem in report.problems if _is_news(problem, told))
        return replace(report, problems=tuple(news))

    def watch(self, stop: threading.Event | None = None) -> Iterator[SyncReport]:
        """Follow changes as they happen, until ``stop`` is set; begins with a full sync.

        Yields:
            A report for each sync that had something to do. What could not be done is a problem
            of one, and is tried again.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
        """
        from lancebrain.sync.follow import follow

        engine = self._access.own_engine()
        for report in follow(engine, stop or threading.Event(), reload=self._access.reload):
            self._looking.done()
            yield report

    def resume(self, *, progress: Callable[[Progress], None] | None = None) -> SyncReport:
        """Follow the files again after a rollback: lift the hold, and sync.

        Args:
            progress: as in :meth:`sync`, whose errors this raises too.
        """
        from lancebrain.versions import resume

        resume(self._access.store(), lock_timeout_s=self._timeout_s)
        return self.sync(progress=progress)

    def sources(self) -> tuple[SourceStatus, ...]:
        """The sources, whether they can be read, and how many documents the index has of each."""
        from lancebrain.brain.state import document_counts, source_states

        counts: Mapping[str, int] = {}
        if self._access.exists:
            counts = document_counts(self._access.store().snapshot())
        return source_states(self.settings.sources, counts)

    def add_source(self, folder: Path | str, **about: Any) -> Source:
        """Add a folder to the configuration, or to what the index remembers if there is none.

        Args:
            folder: what to index, from the next sync on.
            about: the other fields of :class:`Source`; ``name`` is the folder's by default.

        Raises:
            ConfigError: the name or the folder is a source already, or a value is wrong.
        """
        return self._book.add(folder, about)

    def add_program(self, program: str, /, **about: Any) -> AddedLogs:
        """Add the session logs that a program keeps of this person, from the next sync on.

        Args:
            program: ``claude``, ``codex`` or ``gemini``. Its folder is the one that
                ``CLAUDE_CONFIG_DIR`` or ``CODEX_HOME`` names, else the one in the home folder.
            about: fields of :class:`Source` in place of what is usual for it.

        Raises:
            UsageError: no such program is known.
            ConfigError: its folder is not there or a source already, or a value is wrong.
        """
        from lancebrain.brain.programs import logs_of, measured

        taken = {source.name for source in self.settings.sources}
        folder, usual = logs_of(program, os.environ, Path.home(), taken)
        given = {key: value for key, value in about.items() if value not in (None, ())}
        return measured(self._book.add(folder, usual | given), self.settings)

    def remove_source(self, name: str) -> Source:
        """Take a source out of where it is configured, and its documents out of the index.

        Raises:
            UsageError: there is no source of that name, or it is set where this cannot reach.
        """

        source = self._book.remove(name)
        if self._access.exists:
            self._access.engine().sync((), dropped={name}, fill=False)
        return source

    def doctor(self, *, deep: bool = False, fix: bool = False) -> Diagnosis:
        """Check that the index is sound and equal to the files.

        Args:
            deep: read every file and compare every chunk.
            fix: repair what is found, small repairs first.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
        """
        from lancebrain.doctor import examine

        return examine(self._access.engine, self._access.engine_anew, deeply=deep, fix=fix)

    def close(self) -> None:
        """Let go of the index; the next call opens it again."""
        self._access.close()

    def __enter__(self) -> Brain:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _ahead(
        self,
        engine: str,
        syncing: Engine,
        scope: Sequence[str] | None,
        address: str | None,
        workers: int | None,
        progress: Callable[[Progress], None] | None,
    ) -> Iterator[Ahead | None]:
        """What a cluster made of the files, for a sync; None without one."""
        if engine == "local":
            yield None
            return
        from lancebrain.sync.on_ray import Cluster, prepared

        with prepared(
            syncing.store,
            self.settings,
            self._access.options(fingerprint=syncing.store.info.fingerprint),
            syncing.files_to_read(scope),
            Cluster(address, workers),
            progress=progress,
        ) as ahead:
            yield ahead

    def _dry_run(
        self,
        scope: Sequence[str] | None,
        added: Sequence[Source],
        confirm_removals: bool,
        progress: Callable[[Progress], None] | None,
    ) -> SyncReport:
        sources = (*self.settings.sources, *added)
        dropped: Collection[str] = ()
        if scope is None and self._access.exists:
            dropped = self._dropped(confirm_removals)
        with self._access.engine_or_empty(sources=sources) as engine:
            return engine.sync(
                scope,
                dry_run=True,
                confirm_removals=confirm_removals,
                dropped=dropped,
                progress=progress,
            )

    def _dropped(self, confirmed: bool) -> set[str]:
        """Sources whose documents are to go: taken out of the configuration; where a person
        confirmed it, also those that are configured nowhere, which of an index that several
        machines use nobody knows."""
        names = {source.name for source in self.settings.sources}
        ledger = Ledger(self.settings.index)
        dropped = ledger.dropped(self._origin, names)
        if confirmed and not self._access.store().storage.is_shared:
            there = {path.partition("/")[0] for path in self._access.store().snapshot().stats()}
            dropped |= there - names - ledger.of_other_files(self._origin)
        return dropped


def _is_news(problem: Problem, told: Collection[Problem]) -> bool:
    is_of_file = "/" in problem.path
    return not is_of_file or problem not in told
