"""What must hold after every sync: the rows equal those of an index built afresh from the disk."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lancebrain.config import Settings
from lancebrain.embedders.base import Embedder
from lancebrain.store import Store
from lancebrain.sync import Engine

_CHUNK = ("text", "chunk_hash", "heading_path", "tags", "role", "said_at", "line_count")
_STATE = ("sha256", "size", "mime", "encoding", "title", "metadata", "links", "problems")


def assert_healthy(store: Store, settings: Settings, embedder: Embedder) -> None:
    """The index is what a fresh one of the same disk would be, vectors included.

    Compared are, by path and rank, text, hash, headings, tags, role, time and lines of each
    chunk, its vector within 1e-6, and each document's state; ``chunk_index`` and the times of
    rows may differ. No key is there twice, and no chunk is without its document.

    Args:
        settings: with the sources as they are now.
        embedder: a fresh one, of the index's fingerprint, whose work is not counted.
    """
    table = store.snapshot().to_arrow()
    rows = table.to_pylist()
    keys = Counter((row["path"], row["chunk_index"]) for row in rows)
    assert [key for key, count in keys.items() if count > 1] == []
    documents = {row["path"] for row in rows if row["chunk_index"] == -1}
    assert {row["path"] for row in rows} == documents
    with tempfile.TemporaryDirectory() as folder:
        fresh = fresh_rows(Path(folder), settings, embedder)
    assert_same(rows_by_rank(rows), rows_by_rank(fresh))


def fresh_rows(folder: Path, settings: Settings, embedder: Embedder) -> list[dict[str, Any]]:
    """The rows of an index built from the disk alone, in one go."""
    store = Store.create(
        folder / "fresh", model=settings.model, fingerprint=embedder.fingerprint, dim=embedder.dim
    )
    other = settings.model_copy(update={"index": folder / "fresh"})
    Engine(store, other, lambda: embedder).sync()
    rows: list[dict[str, Any]] = store.snapshot().to_arrow().to_pylist()
    return rows


def rows_by_rank(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """(path, rank) → row; the document row has rank -1."""
    ordered = sorted(rows, key=lambda row: (row["path"], row["chunk_index"]))
    rank: Counter[str] = Counter()
    by_rank = {}
    for row in ordered:
        by_rank[row["path"], rank[row["path"]] - 1] = row
        rank[row["path"]] += 1
    return by_rank


def assert_same(
    got: Mapping[tuple[str, int], Mapping[str, Any]],
    wanted: Mapping[tuple[str, int], Mapping[str, Any]],
) -> None:
    """Both say the same of every document and chunk."""
    assert sorted(got) == sorted(wanted)
    for key, row in wanted.items():
        assert content(got[key]) == content(row), key
        assert (got[key]["vector"] is None) == (row["vector"] is None), key
        if row["vector"] is not None:
            np.testing.assert_allclose(got[key]["vector"], row["vector"], atol=1e-6)


def content(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says, without numbers and times of its own."""
    shared = {name: row[name] for name in ("source", "domain", "kind")}
    if row["chunk_index"] == -1:
        return shared | {"tags": row["tags"]} | {name: row["doc"][name] for name in _STATE}
    return shared | {name: row[name] for name in _CHUNK}
