"""The facade: one index with its sources, and everything one can do with it.

Fronts (command line, tool servers, web) call this and nothing below it. Nothing is opened,
imported or loaded before it is needed: a keyword search never loads the model.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from lancebrain.brain.access import Access
from lancebrain.brain.freshening import freshen
from lancebrain.brain.ledger import Ledger
from lancebrain.brain.looking import Looking
from lancebrain.brain.roots import document_path_of
from lancebrain.brain.sourcebook import SourceBook
from lancebrain.errors import UsageError
from lancebrain.types import (
    Answer,
    Filter,
    Mode,
    Problem,
    Progress,
    Query,
    Source,
    SourceStatus,
    Status,
    SyncReport,
)

if TYPE_CHECKING:
    from lancebrain.brain.export import Format
    from lancebrain.brain.passages import Passage
    from lancebrain.config import Settings
    from lancebrain.doctor import Diagnosis
    from lancebrain.embedders import Embedder


class Brain:
    """An index: bring it up to the files, ask it, look after it.

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

    @property
    def settings(self) -> Settings:
        """What holds now."""
        return self._access.settings

    def sync(
        self,
        paths: Iterable[Path | str] = (),
        *,
        dry_run: bool = False,
        confirm_removals: bool = False,
        progress: Callable[[Progress], None] | None = None,
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
        names = {source.name for source in self.settings.sources}
        ledger = Ledger(self.settings.index)
        engine = self._access.engine()
        told = set(engine.problems())
        report = engine.sync(
            scope,
            confirm_removals=confirm_removals,
            sources_complete=confirm_removals and scope is None,
            dropped=ledger.dropped(self._origin, names) if scope is None else (),
            progress=progress,
        )
        if scope is None and store.hold.read() is None:
            ledger.record(self._origin, names)
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

    def search(
        self,
        question: str | Query,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        offset: int = 0,
        filter: Filter | None = None,
        look: bool = True,
    ) -> Answer:
        """Find the passages that answer a question.

        Changes on disk that are known of, and once every ``look_interval_s`` all changes, are
        taken in first.

        Args:
            question: in any language; words in "quotes" have to occur. A :class:`Query` holds
                the other arguments itself.
            mode: by meaning and words, by meaning alone (``vector``), or by words alone
                (``keyword``), which needs no model.
            limit, offset: hits at most, and hits to skip.
            filter: what to narrow the search to.
            look: False answers from the index as it is.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            IndexMismatchError: the index was made with another model than is configured.
        """
        from lancebrain.search import search

        query = question
        if isinstance(query, str):
            query = Query(query, mode, limit, offset, filter or Filter())
        store = self._access.store()
        by_words = query.mode == "keyword"
        embedder = None if by_words else self._access.embedder_for(store)
        notes = self.freshen(text_only=by_words) if look else ()
        answer = search(
            store.snapshot(),
            query,
            embedder,
            sources=self.settings.sources,
            pinned=self._pinned(),
        )
        return replace(answer, notes=notes + answer.notes)

    def terms(self, question: str) -> tuple[str, ...]:
        """The words of a question that its hits are ranked by, to highlight them."""
        from lancebrain.search.question import parse

        parsed = parse(question)
        return parsed.phrases + parsed.terms

    def freshen(self, *, text_only: bool = False) -> tuple[str, ...]:
        """Take in changes on disk, if it is time to look; what was marked dirty always.

        Args:
            text_only: load no model; what changed can be found by its words at once, and by
                its meaning after the next sync.

        Returns:
            Sentences about what may be missing.
        """
        return freshen(self._access, self._looking, text_only=text_only)

    def mark_dirty(self, paths: Iterable[Path | str]) -> None:
        """Tell that files may have changed; they are looked at before the next answer."""
        named = (document_path_of(self.settings.sources, path) for path in paths)
        self._looking.mark(path for path in named if path is not None)

    def show(self, what: str, *, before: int = 0, after: int = 0, look: bool = True) -> Passage:
        """A document or a passage of it, as the index holds it.

        Args:
            what: a document path, ``path:12``, ``path:12-18``, the ``id`` of a hit, or a file.
            before, after: chunks to add around a passage.
            look: as in :meth:`search`.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            UsageError: there is no such document or passage.
        """
        from lancebrain.brain.passages import read_passage

        store = self._access.store()
        if look:
            self.freshen(text_only=True)
        return read_passage(
            store.snapshot(), what, before=before, after=after, sources=self.settings.sources
        )

    def status(self) -> Status:
        """The index at a glance.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
        """
        from lancebrain.brain.state import status_of

        store = self._access.store()
        return status_of(store, self._access.engine().problems(), self.settings.sources)

    def export(
        self, target: BinaryIO, *, format: Format = "jsonl", filter: Filter | None = None
    ) -> None:
        """Write the chunks to a stream, see :class:`lancebrain.brain.export.ExportedChunk`.

        Args:
            target: is written to as it goes.
            format: ``jsonl``, ``csv``, ``parquet`` or ``arrow``.
            filter: which chunks; all by default.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
        """
        from lancebrain.brain.export import exported_chunks, write_export

        snapshot = self._access.store().snapshot()
        write_export(exported_chunks(snapshot, filter or Filter()), target, format)

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

    def _dry_run(
        self,
        scope: Sequence[str] | None,
        added: Sequence[Source],
        confirm_removals: bool,
        progress: Callable[[Progress], None] | None,
    ) -> SyncReport:
        sources = (*self.settings.sources, *added)
        with self._access.engine_or_empty(sources=sources) as engine:
            return engine.sync(
                scope, dry_run=True, confirm_removals=confirm_removals, progress=progress
            )

    def _pinned(self) -> str | None:
        hold = self._access.store().hold.read()
        return None if hold is None else hold.ref


def _is_news(problem: Problem, told: Collection[Problem]) -> bool:
    is_of_file = "/" in problem.path
    return not is_of_file or problem not in told
