"""The checks that look at the table alone, and how far it is behind the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.doctor.findings import SHOWN_PATHS, Finding
from lancebrain.errors import DamagedError, IndexLockedError
from lancebrain.store import ENOUGH, Snapshot
from lancebrain.store.filters import all_of
from lancebrain.store.ranges import path_ranges
from lancebrain.store.schema import CHUNK_ROWS, DOCUMENT_ROWS, EMBEDDED_ROWS, table_schema
from lancebrain.store.snapshot import valid_rows
from lancebrain.sync import Engine
from lancebrain.types import Filter

Key = tuple[str, int]

_ROWS_A_READ = 20_000
_LOCK_TIMEOUT_S = 5.0
"""A commit takes no longer."""


@dataclass(frozen=True, slots=True)
class Ailment:
    """A finding, and what its repair has to know.

    Attributes:
        paths: all documents concerned.
        keys: all rows concerned, where it is about single rows.
    """

    finding: Finding
    paths: tuple[str, ...] = ()
    keys: tuple[Key, ...] = field(default=())


def ailment(
    code: str,
    message: str,
    repair: str,
    *,
    paths: Iterable[str] = (),
    keys: Sequence[Key] = (),
    count: int | None = None,
    fixable: bool = True,
) -> Ailment:
    """An ailment; its finding names the first few paths."""
    every = tuple(dict.fromkeys([*paths, *(path for path, _ in keys)]))
    finding = Finding(
        code=code,
        message=message,
        repair=repair,
        paths=every[:SHOWN_PATHS],
        count=len(every) if count is None else count,
        fixable=fixable,
    )
    return Ailment(finding, every, tuple(keys))


def recovered_versions(engine: Engine) -> Iterator[Ailment]:
    """What a power cut had torn; opening has dropped it already."""
    recovered = engine.store.recovered
    if recovered:
        yield ailment(
            "torn-versions",
            f"A power cut tore {recovered}, which opening dropped.",
            "the version before is in use; a sync brings what is lacking",
            count=len(recovered.versions) + len(recovered.checkpoints),
        )


def lock(engine: Engine) -> Iterator[Ailment]:
    """A folder that cannot be written, or another process that keeps the lock."""
    if engine.store.read_only:
        yield ailment(
            "read-only",
            f"The index folder {engine.store.folder} may not be written, so nothing is synced.",
            "give write permission to the folder, or choose another with --index",
            fixable=False,
        )
        return
    try:
        with engine.store.lock(_LOCK_TIMEOUT_S):
            return
    except IndexLockedError as error:
        yield ailment("locked", error.message, error.hint, fixable=False)


def vectors(engine: Engine) -> Iterator[Ailment]:
    """Chunks without a vector, and vectors that are not finite or not of length 1."""
    snapshot = engine.store.snapshot()
    if pending := snapshot.pending():
        yield ailment(
            "vectors-missing",
            f"{pending} chunks have no vector and cannot be found by meaning.",
            "embed them",
            count=pending,
        )
    if keys := _invalid_vectors(snapshot):
        yield ailment(
            "vectors-invalid",
            f"{len(keys)} chunks have a vector that is no number or not of length 1.",
            "embed them again",
            keys=keys,
            count=len(keys),
        )


def keys(engine: Engine) -> Iterator[Ailment]:
    """Rows that share a key, and chunk rows without a document row."""
    snapshot = engine.store.snapshot()
    rows = snapshot.to_arrow(["path", "chunk_index"])
    counted = rows.group_by(["path", "chunk_index"]).aggregate([([], "count_all")])
    double = counted.filter(pc.greater(counted["count_all"], 1))
    if double.num_rows:
        yield ailment(
            "duplicate-keys",
            f"{double.num_rows} rows are there more than once.",
            "take the documents out and read them again",
            paths=sorted(set(double["path"].to_pylist())),
            count=double.num_rows,
        )
    documents = pc.unique(snapshot.to_arrow(["path"], where=DOCUMENT_ROWS)["path"])
    chunks = pc.unique(snapshot.to_arrow(["path"], where=CHUNK_ROWS)["path"])
    orphans = chunks.filter(pc.invert(pc.is_in(chunks, documents)))
    if len(orphans):
        yield ailment(
            "orphans",
            f"{len(orphans)} documents have chunks but no row of their own.",
            "take the chunks out and read the files again",
            paths=sorted(orphans.to_pylist()),
        )


def rows(engine: Engine) -> Iterator[Ailment]:
    """Whether everything can be read; vectors are a check of their own."""
    names = [name for name in table_schema(engine.store.info).names if name != "vector"]
    engine.store.snapshot().read_through(names)
    yield from ()


def indices(engine: Engine) -> Iterator[Ailment]:
    """The indices answer; the full-text index is there, and not far behind the rows."""
    snapshot, dim = engine.store.snapshot(), engine.store.info.dim
    try:
        snapshot.keyword_candidates("index", Filter(), 1)
        snapshot.vector_candidates(np.eye(1, dim, dtype=np.float32)[0], Filter(), 1)
        snapshot.look_up_all()
    except DamagedError as error:
        yield ailment("index-damaged", error.message, "build the indices anew")
    if engine.store.is_index_behind():
        yield ailment(
            "index-behind",
            "The indices lack so many rows that searches are slow.",
            "bring it up to date",
        )
    recall = engine.store.recall.read()
    if recall is not None and recall.share < ENOUGH:
        yield ailment(
            "recall-low",
            f"The vector index finds {recall.share:.0%} of the nearest chunks.",
            "build the indices anew",
        )


def disk(engine: Engine) -> Iterator[Ailment]:
    """How far the index is behind the files, by a look that writes nothing."""
    report = engine.sync(dry_run=True)
    counts = {name: getattr(report, name) for name in ("added", "changed", "moved", "removed")}
    if any(counts.values()):
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        yield ailment(
            "behind-disk",
            f"The files have changed since the last sync: {told}.",
            "sync",
            count=sum(counts.values()),
        )
    for problem in report.problems:
        if problem.code in _OF_SOURCES:
            yield ailment(
                problem.code,
                problem.message,
                _OF_SOURCES[problem.code],
                fixable=False,
                paths=[problem.path] if problem.path else (),
                count=1,
            )


_OF_SOURCES = {
    "pinned": "lancebrain resume",
    "source-missing": "bring the folder back, or: lancebrain sources remove NAME",
    "source-unreadable": "let the folder be read, or: lancebrain sources remove NAME",
    "source-empty": "bring the files back, or: lancebrain sync --confirm-removals",
    "removals-waiting": "lancebrain sync --confirm-removals",
}


def unlisted(engine: Engine) -> Iterator[Ailment]:
    """Documents of sources that are configured nowhere; those of a shared index may be another
    machine's."""
    if engine.store.storage.is_shared:
        return
    names = {source.name for source in engine.settings.sources}
    rows = engine.store.snapshot().to_arrow(["source"], where=DOCUMENT_ROWS)
    there = set(pc.unique(rows["source"]).to_pylist()) - names
    if there:
        yield ailment(
            "source-unlisted",
            "Documents are of sources that this configuration does not have.",
            "add the sources, or drop the documents: lancebrain sync --confirm-removals",
            paths=sorted(there),
            fixable=False,
        )


def _invalid_vectors(snapshot: Snapshot) -> list[Key]:
    found: list[Key] = []
    names = snapshot.to_arrow(["path"], where=EMBEDDED_ROWS)["path"]
    for where in path_ranges(names, rows=_ROWS_A_READ):
        where = all_of(EMBEDDED_ROWS, where)
        rows = snapshot.to_arrow(["path", "chunk_index", "vector"], where=where)
        there = np.asarray(pc.is_valid(rows["vector"]).to_numpy())
        bad = ~there
        matrix = rows["vector"].filter(pa.array(there)).combine_chunks()
        flat = matrix.flatten().to_numpy(zero_copy_only=False)
        bad[there] = ~valid_rows(flat.reshape(int(there.sum()), -1))
        paths, indexes = (rows[name].to_pylist() for name in ("path", "chunk_index"))
        found += [(paths[row], indexes[row]) for row in np.flatnonzero(bad)]
    return found
