"""Filling in vectors: of texts that were committed first, and of rows that lost theirs.

Newest documents first. The model works outside the lock, about a second at a time, so that a
single edit goes in between; a commit follows every few hundred vectors. What was embedded is
kept however the work ends, and a text that the model fails on keeps no other from its vector.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from lancebrain.chunking import embedding_text
from lancebrain.errors import EmbedderError
from lancebrain.store import AT_REST, WHILE_FILLING, Snapshot, Store, Tolerance
from lancebrain.types import Progress, StoredChunk

from .lease import Lease
from .vectors import Vector, Vectors, missing

if TYPE_CHECKING:
    from lancebrain.config import Settings

_COMMIT_ROWS = 1_000
_COMMIT_S = 15.0
_PART_S = 1.0
_FIRST_PART = 32
_MAX_PART = 512
_TRIES = 3
"""A model that fails on the first so many texts, each by itself, fails on all."""
_MAINTAIN_COMMITS = 3  # rows with new vectors leave the full-text index, and search scans them
_POLL_S = 0.25


class Backfill:
    """Gives rows the vectors they lack, until none lacks one.

    Args:
        store: the index.
        settings: for the lock's time-out and the age of versions.
        vectors: where vectors come from.

    Attributes:
        embedded: texts that the model was given so far.
        filled: rows that got a vector so far.
    """

    def __init__(self, store: Store, settings: Settings, vectors: Vectors) -> None:
        self._store = store
        self._settings = settings
        self._vectors = vectors
        self._lease = Lease(store.folder)
        self._part = _FIRST_PART
        self._ahead = 0
        self._is_done = False
        self._refused: dict[str, EmbedderError] = {}
        self.embedded = 0
        self.filled = 0

    def run(
        self,
        progress: Callable[[Progress], None],
        cancel: threading.Event,
    ) -> None:
        """Fill in everything; while another process is at it, wait for it.

        Raises:
            EmbedderError: the model failed on some texts, or on all; what it gave is in the table.
            IndexLockedError: another process held the lock for too long.
        """
        while not (self._is_done or cancel.is_set()):
            pending = self._store.snapshot().pending()
            if not pending:
                return
            total = self.filled + pending
            for _ in self.steps():
                done = min(self.filled + self._ahead, total)
                progress(Progress("embed", chunks=done, chunks_total=total))
                if cancel.is_set():
                    return
            cancel.wait(_POLL_S)

    def steps(self) -> Iterator[None]:
        """Fill in; a step is about a second of embedding, or a commit.

        It ends when nothing is lacking or another process is at it. Closing it early is safe.

        Raises:
            EmbedderError: as :meth:`run`.
        """
        commits = 0
        try:
            while self._lease.take():
                snapshot = self._store.snapshot()
                lacking = snapshot.unembedded(_COMMIT_ROWS + len(self._refused))
                rows = [row for row in lacking if row.chunk.chunk_hash not in self._refused]
                if not rows:
                    self._is_done = True
                    if commits:
                        self._maintain(AT_REST)
                    self._tell_refused(lacking)
                    return
                yield from self._round(snapshot, rows)
                commits += 1
                if commits % _MAINTAIN_COMMITS == 0:
                    self._maintain(WHILE_FILLING)
        finally:
            self._lease.drop()

    def _round(self, snapshot: Snapshot, rows: list[StoredChunk]) -> Iterator[None]:
        hashes = [row.chunk.chunk_hash for row in rows]
        fingerprint = self._store.info.fingerprint
        vectors = self._vectors.known(snapshot, set(hashes))
        lacking = _texts(snapshot, rows, missing(hashes, vectors))
        started = time.monotonic()
        try:
            while lacking and time.monotonic() - started < _COMMIT_S and self._lease.take():
                vectors |= self._embed(
                    [lacking.pop() for _ in range(min(self._part, len(lacking)))]
                )
                yield
        finally:
            self._commit(rows, vectors, fingerprint)
        yield

    def _embed(self, texts: list[tuple[str, str]]) -> dict[str, Vector]:
        started = time.monotonic()
        vectors = self._vectors_of(dict(texts))
        self.embedded += len(vectors)
        self._ahead += len(texts)
        seconds = max(time.monotonic() - started, 1e-3)
        self._part = max(_FIRST_PART, min(_MAX_PART, int(len(texts) / seconds * _PART_S)))
        return vectors

    def _vectors_of(self, texts: dict[str, str]) -> dict[str, Vector]:
        """Vectors of texts; where the model fails on all at once, of those that it takes alone."""
        self._vectors.load()
        with suppress(EmbedderError):
            return self._vectors.embed(texts)
        vectors: dict[str, Vector] = {}
        for tried, (chunk_hash, text) in enumerate(texts.items(), 1):
            try:
                vectors |= self._vectors.embed({chunk_hash: text})
            except EmbedderError as error:
                if tried == _TRIES and not (vectors or self.embedded):
                    raise
                self._refused[chunk_hash] = error
        return vectors

    def _tell_refused(self, rows: list[StoredChunk]) -> None:
        if rows:
            error = self._refused[rows[0].chunk.chunk_hash]
            raise EmbedderError(
                f"{len(rows)} texts got no vector and are found by their words alone, the first in "
                f"{rows[0].path}. {error.message}",
                hint=error.hint,
            )

    def _commit(
        self, rows: list[StoredChunk], vectors: dict[str, Vector], fingerprint: str
    ) -> None:
        """Write the vectors of rows that are still what they were when they were read.

        Args:
            fingerprint: of the model that the vectors are of.
        """
        self._ahead = 0
        with self._store.lock(self._settings.lock_timeout_s):
            if self._store.info.fingerprint != fingerprint:
                return  # the index was built anew meanwhile, with another model
            keys = [(row.path, row.chunk_index) for row in rows if row.chunk.chunk_hash in vectors]
            now = self._store.snapshot().rows(keys)
            found = [
                (key, vectors[row.chunk.chunk_hash])
                for key, row in now.items()
                if not row.embedded and row.chunk.chunk_hash in vectors
            ]
            if found:
                self._store.set_vectors([key for key, _ in found], np.stack([v for _, v in found]))
                self.filled += len(found)

    def _maintain(self, tolerance: Tolerance) -> None:
        with self._store.lock(self._settings.lock_timeout_s):
            keep = timedelta(days=self._settings.keep_versions_days)
            if self._store.needs_maintenance(keep_versions=keep, tolerance=tolerance):
                self._store.maintain(keep_versions=keep, only_due=True, tolerance=tolerance)


def _texts(snapshot: Snapshot, rows: list[StoredChunk], hashes: list[str]) -> list[tuple[str, str]]:
    """(chunk hash, embedding text) of the rows with one of the hashes, the first row last."""
    stats = snapshot.stats(list({row.path for row in rows}))
    wanted = set(hashes)
    texts = {
        row.chunk.chunk_hash: embedding_text(
            stats[row.path].kind, row.chunk.heading_path, row.chunk.text
        )
        for row in rows
        if row.chunk.chunk_hash in wanted and row.path in stats
    }
    return list(reversed(texts.items()))
