"""The part of the facade that answers, from the newest version or as of an earlier one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lancebrain.brain.access import Access
from lancebrain.brain.freshening import doubted, freshen
from lancebrain.brain.looking import Looking
from lancebrain.brain.roots import document_path_of
from lancebrain.errors import UsageError
from lancebrain.types import Answer, Filter, Hit, Mode, Query, Status

if TYPE_CHECKING:
    from lancebrain.brain.export import Format
    from lancebrain.brain.passages import Passage
    from lancebrain.config import Settings
    from lancebrain.search.reranking import Reranking
    from lancebrain.store import Snapshot


class Asking:
    """Searching, showing and exporting; every method takes ``at``, a reference to a version.

    A reference is a number (``12``), a checkpoint, ``latest~1`` (the state before the last
    change), or a time: ``yesterday``, ``2d``, ``2026-11-29T10:00``. As of one, no file is looked
    at beforehand, and a hit is ``changed`` when its file differs now or is gone.
    """

    _access: Access
    _looking: Looking

    @property
    def settings(self) -> Settings:
        """What holds now."""
        return self._access.settings

    def search(
        self,
        question: str | Query,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        offset: int = 0,
        filter: Filter | None = None,
        look: bool = True,
        at: str | None = None,
        rerank: bool = False,
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
            at: answer as of this version.
            rerank: let a cross-encoder put the first hits in order, which takes seconds.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            EmbedderError: the cross-encoder cannot be loaded, or failed.
            IndexMismatchError: the model of the index is another one here.
            ModelUnavailableError: it cannot be had, and ``mode`` is by meaning alone.
            UsageError: there is no such version.
        """
        query = question
        if isinstance(query, str):
            query = Query(query, mode, limit, offset, filter or Filter())
        by_words = query.mode == "keyword"
        if not by_words and at is None:
            # Before anything else: what is imported and read meanwhile costs nothing then.
            self._access.begin_loading(self._access.store().info)
        from lancebrain.search import search

        reranking = self._access.reranking() if rerank else None
        if at is not None:
            snapshot = self._snapshot(at)
            embedder, notes = self._access.model_for(snapshot.info, query.mode)
            answer = search(
                snapshot,
                query,
                embedder,
                sources=self.settings.sources,
                live=False,
                reranking=reranking,
            )
            return replace(answer, notes=(self._as_of(snapshot), *notes, *answer.notes))
        notes = self.freshen(text_only=by_words) if look else ()
        answer = self._answer(query, reranking, notes)
        if look and answer.pinned is None and self._looking.doubt(doubted(answer)):
            answer = self._answer(query, reranking, self.freshen(text_only=by_words))
        return answer

    def _answer(self, query: Query, reranking: Reranking | None, notes: tuple[str, ...]) -> Answer:
        from lancebrain.search import search

        store = self._access.store()
        hold = store.hold.read()
        if hold is not None:
            from lancebrain.versions import problems_in_time

            notes += tuple(problem.message for problem in problems_in_time(store))
        snapshot = store.snapshot()
        embedder, about_model = self._access.model_for(snapshot.info, query.mode)
        answer = search(
            snapshot,
            query,
            embedder,
            sources=self.settings.sources,
            pinned=None if hold is None else hold.ref,
            reranking=reranking,
        )
        return replace(answer, notes=(*notes, *about_model, *answer.notes))

    def related(self, chunk: str, *, limit: int = 10, at: str | None = None) -> tuple[Hit, ...]:
        """Passages of other documents that are like one, nearest first; no model is loaded.

        Args:
            chunk: the ``id`` of a hit.
            limit: hits at most.
            at: as of this version.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            UsageError: that is no id, or there is no such version.
        """
        from lancebrain.search import related

        path, _, index = chunk.rpartition("#")
        if not (path and index.isascii() and index.isdigit()):
            raise UsageError(f"{chunk!r} is not the id of a hit.")
        live = at is None and not self._access.store().hold.is_set()
        return related(
            self._snapshot(at),
            (path, int(index)),
            limit=limit,
            sources=self.settings.sources,
            live=live,
        )

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

    def show(
        self,
        what: str,
        *,
        before: int = 0,
        after: int = 0,
        look: bool = True,
        at: str | None = None,
    ) -> Passage:
        """A document or a passage of it, as the index holds it.

        Args:
            what: a document path, ``path:12``, ``path:12-18``, the ``id`` of a hit, or a file.
            before, after: chunks to add around a passage.
            look: as in :meth:`search`.
            at: as of this version.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            UsageError: there is no such document, passage or version.
        """
        from lancebrain.brain.passages import look_up, passage_of

        if look and at is None:
            self.freshen(text_only=True)
        snapshot, sources = self._snapshot(at), self.settings.sources
        found = look_up(snapshot, what, before=before, after=after, sources=sources)
        return passage_of(snapshot, found, sources)

    def status(self, *, at: str | None = None) -> Status:
        """The index at a glance.

        Args:
            at: as of this version.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            UsageError: there is no such version.
        """
        from lancebrain.brain.state import status_of

        snapshot = self._snapshot(at)
        known = self._access.engine().problems() if at is None else ()
        return status_of(self._access.store(), snapshot, known, self.settings.sources)

    def export(
        self,
        target: BinaryIO,
        *,
        format: Format = "jsonl",
        filter: Filter | None = None,
        at: str | None = None,
        look: bool = True,
    ) -> tuple[str, ...]:
        """Write the chunks to a stream, see :data:`lancebrain.brain.export.COLUMNS`.

        Args:
            target: is written to as it goes.
            format: ``jsonl``, ``csv``, ``parquet`` or ``arrow``.
            filter: which chunks; all by default.
            at: as of this version; no file is looked at.
            look: as in :meth:`search`.

        Returns:
            Sentences about what may be missing.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            UsageError: there is no such version.
        """
        from lancebrain.analysis.chunks import chunks_in_pieces
        from lancebrain.brain.export import COLUMNS, write_export

        notes = self.freshen(text_only=True) if look and at is None else ()
        pieces = chunks_in_pieces(self._snapshot(at), filter or Filter(), COLUMNS)
        write_export(pieces, target, format)
        return notes

    def _snapshot(self, at: str | None) -> Snapshot:
        store = self._access.store()
        if at is None:
            return store.snapshot()
        from lancebrain.versions import resolve

        return store.snapshot(resolve(store, at))

    def _as_of(self, snapshot: Snapshot) -> str:
        from lancebrain.versions import made_at

        made = made_at(self._access.store(), snapshot.version).astimezone()
        return f"As of version {snapshot.version}, made {made:%Y-%m-%d %H:%M}."
