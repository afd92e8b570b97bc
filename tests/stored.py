"""Rows made by hand and committed to a real table, for tests of the store."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lancebrain.store import RowBatch, Store, VectorCache
from lancebrain.types import Chunk, DocumentState

DIM = 8
STEP = 1 << 20
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_store(folder: Path) -> Store:
    """An empty index."""
    return Store.create(folder / "index", model="stand-in", fingerprint="f1", dim=DIM)


def state(path: str, **fields: object) -> DocumentState:
    """A document's state; the source is the first part of its path."""
    given: dict[str, object] = {
        "source": path.split("/")[0],
        "domain": "knowledge",
        "kind": "md",
        "sha256": hashlib.sha256(path.encode()).hexdigest(),
        "size": 3,
        "mtime_ns": 1_000,
        "looked_at_ns": 2_000,
        "mime": "text/markdown",
        "encoding": "utf-8",
        "title": "",
    }
    return DocumentState(path=path, **(given | fields))  # type: ignore[arg-type]


def chunk(text: str, **fields: object) -> Chunk:
    """A chunk of this text."""
    given: dict[str, object] = {
        "chunk_hash": hashlib.sha256(text.encode()).hexdigest(),
        "heading_path": (),
        "tags": (),
        "line_count": text.count("\n"),
    }
    return Chunk(text=text, **(given | fields))  # type: ignore[arg-type]


def unit(*components: float) -> NDArray[np.float32]:
    """A vector of length 1 that begins with these components."""
    vector = np.zeros(DIM, np.float32)
    vector[: len(components)] = components
    normalised: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return normalised


def vector_of(text: str) -> NDArray[np.float32]:
    """A vector that is the same for the same text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    drawn = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
    normalised: NDArray[np.float32] = drawn / np.linalg.norm(drawn)
    return normalised


def batch(documents: Mapping[str, Iterable[str]], *, embed: bool = True) -> RowBatch:
    """Documents with their chunks' texts, whole."""
    rows = RowBatch()
    for path, texts in documents.items():
        rows.document(state(path))
        for rank, text in enumerate(texts):
            vector = vector_of(text) if embed else None
            rows.chunk(state(path), rank * STEP, chunk(text), vector, NOW, NOW)
    return rows


def commit(store: Store, rows: RowBatch) -> int:
    """Commit under the lock."""
    with store.lock(10):
        return store.commit(rows, reason="sync", counts={}, started=time.monotonic())


def put(store: Store, documents: Mapping[str, Iterable[str]], *, embed: bool = True) -> int:
    """Commit documents with their chunks' texts."""
    return commit(store, batch(documents, embed=embed))


def refuse_by(patch: pytest.MonkeyPatch, pragma: str) -> None:
    """Have SQLite refuse what is written, as it does on a full disk or a file of another user."""
    original = VectorCache._open

    def opened(cache: VectorCache) -> sqlite3.Connection:
        db = original(cache)
        db.execute(f"PRAGMA {pragma}")
        return db

    patch.setattr(VectorCache, "_open", opened)
