"""Changing the model of an index without a pause.

The vectors of the new model are gathered beside the table, a part at a time like any backlog,
while questions are answered by the old model. Once every chunk has one, the table is given all of
them at once. So no text is read, cut or indexed again, and whoever is killed loses what the model
had in hand.

While the index is held at an earlier version, this rests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lancebrain.errors import EmbedderError, UsageError
from lancebrain.store import Changed, Checkpoints, PlannedChange, Snapshot, Store
from lancebrain.types import Progress

from .embedding import Embedding, texts_to_embed
from .lease import Lease
from .vectors import Vector, embedded, missing

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.embedders.base import Embedder

_ROUND_ROWS = 1_000
_AT_ONCE = 5_000
_POLL_S = 0.25


class Migration:
    """Brings an index to the model that is planned for it.

    Args:
        store: the index.
        settings: for the lock's time-out.
        load: gives the planned model, loaded.

    Attributes:
        changed: what the switch did, if this process made it.
        done, total: texts that have the new model's vector, and all.
    """

    def __init__(
        self, store: Store, settings: Settings, load: Callable[[PlannedChange], Embedder]
    ) -> None:
        self._store = store
        self._settings = settings
        self._load = load
        self._lease = Lease(store.folder)
        self._planned: PlannedChange | None = None
        self._embedding = _of_no_model()
        self._is_over = False
        self.changed: Changed | None = None
        self.done = self.total = 0

    @property
    def embedded(self) -> int:
        """Texts that the new model was given so far."""
        return self._embedding.embedded

    def run(self, progress: Callable[[Progress], None], cancel: threading.Event) -> None:
        """Do all of it; while another process is at it, wait for it.

        Raises:
            EmbedderError: the model cannot be had, or fails; what it gave before is kept.
            IndexLockedError: another process held the lock for too long.
        """
        while not (self._is_over or cancel.is_set()):
            for _ in self.steps():
                progress(Progress("embed", chunks=self.done, chunks_total=self.total))
                if cancel.is_set():
                    return
            if not self._is_over:
                cancel.wait(_POLL_S)

    def steps(self) -> Iterator[None]:
        """The same in steps of a fraction of a second; the last one switches.

        It ends when there is nothing to do, or when another process is at it. Closing it early is
        safe.
        """
        try:
            while self._lease.take():
                planned = self._store.plan.read()
                if planned is None or self._store.hold.is_set():
                    self._is_over = True
                    return
                if planned != self._planned:
                    self._planned, self._embedding = planned, self._embedding_of(planned)
                snapshot = self._store.snapshot()
                if snapshot.info.fingerprint == planned.fingerprint:
                    self._finish(planned)
                else:
                    yield from self._round(snapshot, planned)
        finally:
            self._lease.drop()

    def _round(self, snapshot: Snapshot, planned: PlannedChange) -> Iterator[None]:
        """Some more vectors; or the switch, if there are all."""
        there = self._there(planned)
        rows = snapshot.chunks_without(there, _ROUND_ROWS)
        if not rows:
            yield from _keep_old(self._store, snapshot)
            self._switch(planned)
            return
        every = snapshot.chunk_hashes()
        self.total, self.done = len(every), len(every & there)
        hashes = list(dict.fromkeys(row.chunk_hash for row in rows))
        lacking = texts_to_embed(rows, missing(hashes, self._cached(planned, hashes)))
        yield
        while lacking and self._lease.take():
            # Kept at once: what is killed next finds it.
            self._keep(planned, self._embedding.next_part(lacking))
            yield

    def _there(self, planned: PlannedChange) -> set[str]:
        """Texts that need not be given to the model (again)."""
        return self._store.staged.hashes(planned.fingerprint) | self._embedding.refused.keys()

    def _cached(self, planned: PlannedChange, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors that the model gave at another time."""
        cached = self._store.vector_cache.get(planned.fingerprint, hashes)
        fitting = {h: vector for h, vector in cached.items() if vector.shape == (planned.dim,)}
        self._keep(planned, fitting)
        return fitting

    def _keep(self, planned: PlannedChange, vectors: Mapping[str, Vector]) -> None:
        if vectors:
            matrix = np.stack(list(vectors.values()))
            self._store.staged.put(planned.fingerprint, list(vectors), matrix)
            self.done += len(vectors)

    def _switch(self, planned: PlannedChange) -> None:
        with self._store.lock(self._settings.lock_timeout_s):
            if self._store.plan.read() != planned or self._store.hold.is_set():
                return
            if self._store.snapshot().chunks_without(self._there(planned), 1):
                return  # something was written meanwhile
            self.changed = switch(self._store, planned)

    def _finish(self, planned: PlannedChange) -> None:
        """The index has the model already: whoever switched was killed just afterwards."""
        with self._store.lock(self._settings.lock_timeout_s):
            if self._store.plan.read() == planned:
                _tidy(self._store, planned)

    def _embedding_of(self, planned: PlannedChange) -> Embedding:
        loaded: list[Embedder] = []

        def model() -> Embedder:
            if not loaded:
                loaded.append(self._load(planned))
            if loaded[0].fingerprint != planned.fingerprint:
                raise EmbedderError(
                    f"The model {planned.model!r} is not what it was when the change to it began.",
                    hint=f"Begin anew: lancebrain model use {planned.model}",
                )
            return loaded[0]

        return Embedding(model, lambda texts: embedded(model(), texts, planned.dim))


def plan_change(store: Store, planned: PlannedChange, *, lock_timeout_s: float) -> None:
    """Ask for another model; from here on any process may bring the index to it.

    Raises:
        UsageError: the index is held at an earlier version.
        IndexLockedError: another process held the lock for too long.
    """
    with store.lock(lock_timeout_s):
        hold = store.hold.read()
        if hold is not None:
            raise UsageError(
                f"The index is pinned at {hold.ref}, so its model stays as it is.",
                hint="Follow the files again first: lancebrain resume",
            )
        before = store.plan.read()
        store.plan.put(planned)
        if before is not None and before.fingerprint != planned.fingerprint:
            _keep_staged(store, before)
            store.staged.drop()


def give_up_change(store: Store, *, lock_timeout_s: float) -> PlannedChange | None:
    """Stay with the model that the index has; what was planned, if anything was.

    What the other model gave so far goes into the cache.
    """
    with store.lock(lock_timeout_s):
        planned = store.plan.read()
        store.plan.put(None)
        if planned is not None:
            _keep_staged(store, planned)
            store.staged.drop()
    return planned


def switch_now(store: Store, planned: PlannedChange, *, lock_timeout_s: float) -> Changed:
    """Give the index the vectors that there are; the others are filled in later.

    Raises:
        IndexLockedError: another process held the lock for too long.
        StoreError: the index cannot be written; it is as it was.
    """
    with store.lock(lock_timeout_s):
        snapshot = store.snapshot()
        for _ in _keep_old(store, snapshot):
            pass
        hashes = sorted(snapshot.chunk_hashes())
        for at in range(0, len(hashes), _AT_ONCE):
            cached = store.vector_cache.get(planned.fingerprint, hashes[at : at + _AT_ONCE])
            fitting = {h: vector for h, vector in cached.items() if vector.shape == (planned.dim,)}
            if fitting:
                matrix = np.stack(list(fitting.values()))
                store.staged.put(planned.fingerprint, list(fitting), matrix)
        return switch(store, planned)


def switch(store: Store, planned: PlannedChange) -> Changed:
    """Give the index the vectors that were gathered, whether or not these are all.

    The caller holds the lock. A checkpoint names the version before.
    """
    version = store.snapshot().version
    Checkpoints(store).create_automatic("model", version, at=datetime.now(UTC))
    changed = store.change_model(planned, partial(store.staged.get, planned.fingerprint))
    _tidy(store, planned)
    return changed


def _tidy(store: Store, planned: PlannedChange) -> None:
    snapshot = store.snapshot()
    lacking = snapshot.pending_hashes()
    if lacking:
        # Should the switch have been cut short after all, these are not given to the model again.
        _cache(store, planned, store.staged.get(planned.fingerprint, sorted(lacking)))
    store.plan.put(None)
    store.staged.drop()


def _keep_old(store: Store, snapshot: Snapshot) -> Iterator[None]:
    """Put the vectors of the old model into the cache, so that going back to it is quick."""
    cache, info = store.vector_cache, snapshot.info
    room = (cache.budget_bytes or 0) // (4 * info.dim)
    hashes = sorted(snapshot.chunk_hashes() - cache.hashes(info.fingerprint))
    for at in range(0, min(len(hashes), room), _AT_ONCE):
        vectors = snapshot.vectors(hashes[at : at + _AT_ONCE])
        if vectors:
            cache.put(info.fingerprint, list(vectors), np.stack(list(vectors.values())))
        yield


def _keep_staged(store: Store, planned: PlannedChange) -> None:
    hashes = sorted(store.staged.hashes(planned.fingerprint))
    for at in range(0, len(hashes), _AT_ONCE):
        _cache(store, planned, store.staged.get(planned.fingerprint, hashes[at : at + _AT_ONCE]))


def _cache(store: Store, planned: PlannedChange, vectors: Mapping[str, Vector]) -> None:
    if vectors:
        matrix = np.stack(list(vectors.values()))
        store.vector_cache.put(planned.fingerprint, list(vectors), matrix)


def _of_no_model() -> Embedding:
    return Embedding(lambda: None, lambda _: {})
