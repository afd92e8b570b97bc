"""Filling in vectors: of texts that were committed first, and of rows that lost theirs.

Newest documents first. The model works outside the lock, a fraction of a second at a time, so that
a single edit goes in between; what it gave is committed beside its work on the next texts. What was
embedded is kept however the work ends, and a text that the model fails on keeps no other from its
vector.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lancebrain.errors import EmbedderError, TextsRefusedError
from lancebrain.store import AT_REST, WHILE_FILLING, Snapshot, Store, Tolerance
from lancebrain.types import ChunkText, Problem, Progress

from .commits import Commits
from .embedding import Embedding, texts_to_embed
from .lease import Lease
from .vectors import Vector, Vectors, missing

if TYPE_CHECKING:
    from lancebrain.config import Settings

_COMMIT_ROWS = 4_000
"""As many as texts are committed at a time: vectors are then written for whole pieces of the
table, whose rows stay where they are."""
_COMMIT_S = 15.0
_POLL_S = 0.25
_WAITING = "Texts are taken in, and get their vectors by a later sync."


class Backfill:
    """Gives rows the vectors they lack, until none lacks one.

    Args:
        store: the index.
        settings: for the lock's time-out and the age of versions.
        vectors: where vectors come from.

    Attributes:
        filled: rows that got a vector so far.
    """

    def __init__(self, store: Store, settings: Settings, vectors: Vectors) -> None:
        self._store = store
        self._settings = settings
        self._vectors = vectors
        self._lease = Lease(store.folder)
        self._embedding = Embedding(vectors.load, vectors.embed)
        self._ahead = 0
        self._commits: Commits
        self._is_done = False
        self.filled = 0

    @property
    def embedded(self) -> int:
        """Texts that the model was given so far."""
        return self._embedding.embedded

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
            # Closed here: what fails while it ends is told, which a destructor could not.
            with closing(self.steps()) as steps:
                for _ in steps:
                    done = min(self.filled + len(self._commits.under_way) + self._ahead, total)
                    progress(Progress("embed", chunks=done, chunks_total=total))
                    if cancel.is_set():
                        return
            if not self._is_done:
                cancel.wait(_POLL_S)

    def steps(self) -> Generator[None]:
        """Fill in; a step is a fraction of a second of embedding.

        It ends when nothing is lacking or another process is at it. Closing it early is safe. The
        caller does not hold the lock: commits are made in a thread of their own.

        Raises:
            EmbedderError: as :meth:`run`.
        """
        self._commits = Commits()
        try:
            while self._lease.take():
                snapshot = self._store.snapshot()
                refused, under_way = self._embedding.refused, self._commits.under_way
                rows = snapshot.unembedded(_COMMIT_ROWS, but={*refused, *under_way})
                if rows:
                    yield from self._round(snapshot, rows)
                elif under_way:
                    self.filled += self._commits.settle()
                    yield
                else:
                    self._is_done = True
                    if self.filled:
                        self._maintain(AT_REST)
                    self._tell_refused(snapshot)
                    return
        finally:
            try:
                self.filled += self._commits.close()
            finally:
                self._lease.drop()

    def _round(self, snapshot: Snapshot, rows: list[ChunkText]) -> Iterator[None]:
        hashes = [row.chunk_hash for row in rows]
        vectors = self._vectors.known(snapshot, set(hashes))
        lacking = texts_to_embed(rows, missing(hashes, vectors))
        fingerprint = snapshot.info.fingerprint
        started = time.monotonic()
        try:
            while lacking and time.monotonic() - started < _COMMIT_S and self._lease.take():
                part = self._embedding.next_part(lacking)
                if self._vectors.fingerprint != fingerprint:
                    break  # the model was changed meanwhile, and may be changed back
                vectors |= part
                self._ahead += len(part)
                yield
            self.filled += self._commits.settle()
            if self.filled:
                # Here and not beside the model: edits, which go in between two steps, would wait
                # for the lock meanwhile, and no longer than until its time-out.
                self._maintain(WHILE_FILLING)
        finally:
            self._ahead = 0
            commit = partial(self._commit, rows, vectors, fingerprint)
            self.filled += self._commits.begin(vectors, commit)
        yield

    def _tell_refused(self, snapshot: Snapshot) -> None:
        for row in snapshot.unembedded(1):
            error = self._embedding.refused[row.chunk_hash]
            raise TextsRefusedError(
                f"{snapshot.pending()} texts got no vector and are found by their words alone, the "
                f"first in {row.path}. {error.message}",
                path=row.path,
                hint=error.hint,
            )

    def _commit(self, rows: list[ChunkText], vectors: dict[str, Vector], fingerprint: str) -> int:
        """Write the vectors of rows that are still what they were when they were read.

        Args:
            fingerprint: of the model that the vectors are of.

        Returns:
            How many rows got theirs.
        """
        with self._store.lock(self._settings.lock_timeout_s):
            snapshot = self._store.snapshot()
            if snapshot.info.fingerprint != fingerprint:
                return 0  # the index has another model now, or was built anew with one
            keys = [(row.path, row.chunk_index) for row in rows if row.chunk_hash in vectors]
            found = {
                key: vectors[chunk_hash]
                for key, chunk_hash in snapshot.lacking(keys).items()
                if chunk_hash in vectors
            }
            if found:
                self._store.set_vectors(list(found), np.stack(list(found.values())))
        return len(found)

    def _maintain(self, tolerance: Tolerance) -> None:
        with self._store.lock(self._settings.lock_timeout_s):
            keep = timedelta(days=self._settings.keep_versions_days)
            if self._store.needs_maintenance(keep_versions=keep, tolerance=tolerance):
                self._store.maintain(keep_versions=keep, only_due=True, tolerance=tolerance)


def waiting(error: EmbedderError) -> Problem:
    """What is told of texts that got no vector."""
    if isinstance(error, TextsRefusedError):
        return Problem(error.path, "text-refused", error.message)
    return Problem("", "model-unavailable", f"{error} {_WAITING}")
