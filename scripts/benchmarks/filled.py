"""An index of any size without a model: real text, cut into chunks, and vectors made up.

The texts are repeated until there are enough. What a search costs does not depend on what the
vectors mean; what an analysis costs does, so that :func:`gathered` draws them around topics.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import say
from lancebrain.chunking import chunk
from lancebrain.embedders import EmbedderSpec
from lancebrain.readers import read
from lancebrain.store import RowBatch, Store
from lancebrain.types import Chunk, Document, DocumentState

Draw = Callable[[int], NDArray[np.floating]]
"""How many chunks a document has → their vectors (n, dim), of any length but 0."""

_DOCUMENT_CHUNKS = 8
_COMMIT_DOCUMENTS = 2_000
_TOPICS = 120
_DOCUMENT_SPREAD, _CHUNK_SPREAD = 1.0, 1.2


def fill(index: Path, model: EmbedderSpec, folder: Path, chunks: int, draw: Draw) -> None:
    """Make an index and write so many chunks to it.

    Args:
        model: that the index says its vectors are of.
        folder: Markdown to take texts from.
    """
    store = Store.create(index, model=model.name, fingerprint=model.fingerprint, dim=model.dim)
    wanted = itertools.islice(_endless_chunks(folder), chunks)
    number = 0
    with store.lock(60):
        while True:
            rows = RowBatch()
            for _ in range(_COMMIT_DOCUMENTS):
                own = list(itertools.islice(wanted, _DOCUMENT_CHUNKS))
                if own:
                    add_note(rows, number, own, draw(len(own)))
                    number += 1
            if not len(rows):
                break
            store.commit(rows, reason="sync", counts={}, started=time.monotonic())
            say(f"{number * _DOCUMENT_CHUNKS} chunks")
        say("maintaining")
        store.maintain(keep_versions=timedelta(days=7))


def scattered(dim: int) -> Draw:
    """Vectors in all directions."""
    random = np.random.default_rng(7)

    def draw(count: int) -> NDArray[np.floating]:
        drawn: NDArray[np.floating] = random.normal(size=(count, dim))
        return drawn

    return draw


def gathered(dim: int) -> Draw:
    """Vectors around topics; those of a document are nearer to each other."""
    random = np.random.default_rng(7)
    topics = random.normal(size=(_TOPICS, dim))

    def draw(count: int) -> NDArray[np.floating]:
        topic = topics[random.integers(_TOPICS)]
        document = topic + _DOCUMENT_SPREAD * random.normal(size=dim)
        drawn: NDArray[np.floating] = document + _CHUNK_SPREAD * random.normal(size=(count, dim))
        return drawn

    return draw


def _endless_chunks(folder: Path) -> itertools.cycle[Chunk]:
    found: list[Chunk] = []
    for file in sorted(folder.rglob("*.md")):
        document = read(file.name, "md", file.read_bytes())
        if isinstance(document, Document):
            found += chunk(document)
    return itertools.cycle(found)


def add_note(
    rows: RowBatch, number: int, chunks: list[Chunk], vectors: NDArray[np.floating]
) -> None:
    """Add a note of these chunks to a commit; each note an hour older than the one before."""
    now = datetime.now(UTC)
    state = DocumentState(
        path=f"notes/{number % 100}/{number}.md",
        source="notes",
        domain="knowledge",
        kind="md",
        sha256=f"{number:064x}",
        size=1,
        mtime_ns=time.time_ns() - number * 3_600 * 10**9,
        looked_at_ns=1,
        mime="text/markdown",
        encoding="utf-8",
        title=f"Note {number}",
    )
    rows.document(state)
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    for place, (one, vector) in enumerate(zip(chunks, unit, strict=True)):
        rows.chunk(state, place << 20, one, vector, now, now)
