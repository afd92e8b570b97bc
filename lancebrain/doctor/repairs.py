"""Repairs, by the code of what they mend. Each goes through the same commits as any sync.

What a repair takes out to read it again from the files has to be readable: documents of a root
that is away stay as they are, and so does an index that is held at an earlier version.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import numpy as np

from lancebrain.doctor.checks import Ailment
from lancebrain.errors import DamagedError
from lancebrain.sources import root_state
from lancebrain.store import RowBatch
from lancebrain.store.schema import LIVE_ROWS
from lancebrain.sync import Engine

Repair = Callable[[Engine, Ailment], None]

_EACH_OF = 5
"""So many of the newest versions are tried one by one."""


def fill(engine: Engine, _: Ailment) -> None:
    """Give every chunk its vector."""
    engine.fill()


def embed_again(engine: Engine, ailment: Ailment) -> None:
    """Take the vectors out of these rows, and fill them in anew."""
    store, keys = engine.store, list(ailment.keys)
    with store.lock(engine.settings.lock_timeout_s):
        snapshot = store.snapshot()
        states = snapshot.documents(list(ailment.paths))
        batch = RowBatch()
        hashes: list[str] = []
        for (path, number), row in snapshot.rows(keys).items():
            if path in states:
                hashes.append(row.chunk.chunk_hash)
                batch.chunk(states[path], number, row.chunk, None, row.created_at, row.updated_at)
        store.vector_cache.forget(hashes)
        _commit(engine, batch, rows=len(batch))
    engine.fill()


def refresh_indices(engine: Engine, _: Ailment) -> None:
    """Bring the indices up to date, and purge and compact on the way."""
    keep = timedelta(days=engine.settings.keep_versions_days)
    with engine.store.lock(engine.settings.lock_timeout_s):
        engine.store.maintain(keep_versions=keep)


def rebuild_indices(engine: Engine, _: Ailment) -> None:
    """Build the indices anew."""
    with engine.store.lock(engine.settings.lock_timeout_s):
        engine.store.rebuild_indices()


def sync(engine: Engine, _: Ailment) -> None:
    """Look at everything and take it in."""
    engine.sync()


def read_again(engine: Engine, ailment: Ailment) -> None:
    """Make the documents look changed, so that a sync reads them and writes what differs."""
    store, paths = engine.store, _readable(engine, ailment.paths)
    with store.lock(engine.settings.lock_timeout_s):
        batch = RowBatch()
        for state in store.snapshot().documents(paths).values():
            batch.document(replace(state, sha256="", size=-1))
        _commit(engine, batch, documents=len(batch))
    engine.sync(paths)


def take_out_and_read_again(engine: Engine, ailment: Ailment) -> None:
    """Remove all rows of the documents for good, keep their vectors aside, and sync."""
    store, paths = engine.store, _readable(engine, ailment.paths)
    with store.lock(engine.settings.lock_timeout_s):
        snapshot = store.snapshot()
        chunks = [row for rows in snapshot.chunks(paths).values() for row in rows]
        vectors = snapshot.vectors([row.chunk.chunk_hash for row in chunks])
        if vectors:
            store.vector_cache.put(
                store.info.fingerprint, list(vectors), np.stack(list(vectors.values()))
            )
        batch = RowBatch()
        wanted = set(paths)
        rows = snapshot.to_arrow(["path", "chunk_index"], where=LIVE_ROWS)
        for path, number in zip(*(rows[c].to_pylist() for c in rows.column_names), strict=True):
            if path in wanted:
                batch.tombstone(path, number)
        _commit(engine, batch, rows_deleted=len(batch))
        # Purged at once: of two rows with one key, a merge would bring both back to life.
        refresh_indices(engine, ailment)
    engine.sync(paths)


REPAIRS: Mapping[str, Repair] = MappingProxyType(
    {
        "vectors-missing": fill,
        "vectors-invalid": embed_again,
        "index-damaged": rebuild_indices,
        "recall-low": rebuild_indices,
        "index-behind": refresh_indices,
        "torn-versions": sync,
        "behind-disk": sync,
        "rows-differ": read_again,
        "orphans": take_out_and_read_again,
        "duplicate-keys": take_out_and_read_again,
    }
)
"""Code of a finding → its repair, the small ones first; the order in which they are made."""


def repair(engine: Engine, ailments: Sequence[Ailment]) -> None:
    """Make every repair there is for these, in the order of :data:`REPAIRS`."""
    for code, make in REPAIRS.items():
        for ailment in ailments:
            if ailment.finding.code == code:
                make(engine, ailment)


def go_back(engine: Engine) -> bool:
    """Make the newest version that can be read whole the current one; False if there is none.

    One without a document would be no gain. A hold is lifted: what it held at cannot be read.
    """
    started, store = time.monotonic(), engine.store
    with store.lock(engine.settings.lock_timeout_s):
        for version in _some(sorted(store.versions(), reverse=True)[1:]):
            try:
                snapshot = store.snapshot(version)
                snapshot.read_through()
                if not snapshot.document_count():
                    continue
                restored = store.restore(version)
            except DamagedError:
                continue
            store.commits.record(restored, "repair", {}, started)
            store.hold.clear()
            return True
    return False


def _some(versions: Sequence[int]) -> Iterator[int]:
    """The first few of many, and then fewer and fewer: each takes a while to read."""
    at, step = 0, 1
    while at < len(versions):
        yield versions[at]
        at, step = at + step, step + at // _EACH_OF


def _readable(engine: Engine, paths: Sequence[str]) -> list[str]:
    """Those of the documents that a sync can read again."""
    if engine.store.hold.is_set():
        return []
    there = {source.name for source in engine.settings.sources if root_state(source) == "ok"}
    return [path for path in paths if path.partition("/")[0] in there]


def _commit(engine: Engine, batch: RowBatch, **counts: int) -> None:
    engine.store.commit(batch, reason="repair", counts=counts, started=time.monotonic())
