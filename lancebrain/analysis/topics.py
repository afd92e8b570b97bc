"""Topics: chunks in groups by what they are about, each with the words that tell it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lancebrain.analysis.chunks import read_vectors
from lancebrain.analysis.geometry import Matrix, k_means, nearest_centre, reduced, steady
from lancebrain.analysis.result import Analysis, Chart
from lancebrain.analysis.texts import keywords
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

_DIMENSIONS = 50
_MOST_TOPICS = 30
_TEXTS_A_TOPIC = 100
_TEXT_CHARS = 600
_SCHEMA = pa.schema(
    [
        ("topic", pa.int64()),
        ("keywords", pa.list_(pa.string())),
        ("chunks", pa.int64()),
        ("notes", pa.int64()),
        ("share", pa.float64()),
        ("example", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Chunks by topic.

    Attributes:
        topic: of each chunk, from 0, the largest topic first.
        closeness: of each chunk to the middle of its topic; greater is closer.
        count: of topics.
    """

    topic: NDArray[np.int64]
    closeness: Matrix
    count: int


def grouped(vectors: Matrix, notes: int, count: int | None = None) -> Grouping:
    """Put chunks into groups by their vectors.

    Args:
        vectors: (n, dim) float32.
        notes: how many these chunks are of.
        count: of topics at most; None: by the number of notes.
    """
    wanted = count or min(_MOST_TOPICS, max(2, round(1.2 * notes**0.35)))
    with steady():
        points = reduced(vectors, _DIMENSIONS)
        centres = k_means(points, wanted)
        topic = nearest_centre(points, centres)
        off = points - centres[topic] if len(centres) else points
    sizes = np.bincount(topic, minlength=len(centres))
    rank = np.empty(len(centres), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(centres))
    closeness: Matrix = -np.einsum("ij,ij->i", off, off)
    return Grouping(rank[topic], closeness, int((sizes > 0).sum()))


def topics(snapshot: Snapshot, wanted: Filter, *, count: int | None = None) -> Analysis:
    """Groups of chunks, the largest first, with the words that tell each from the others.

    Args:
        count: of topics at most; None: some six for a hundred notes, thirty for ten thousand.
    """
    chunks, vectors = read_vectors(snapshot, wanted, ("path", "chunk_index"))
    paths = chunks["path"].combine_chunks().dictionary_encode()
    codes = paths.indices.to_numpy()
    groups = grouped(vectors, len(paths.dictionary), count)
    words = words_of(snapshot, chunks, groups)
    rows = []
    for topic in range(groups.count):
        own = np.flatnonzero(groups.topic == topic)
        rows.append(
            {
                "topic": topic + 1,
                "keywords": words[topic],
                "chunks": len(own),
                "notes": len(np.unique(codes[own])),
                "share": round(len(own) / len(codes), 4),
                "example": paths.dictionary[codes[own[groups.closeness[own].argmax()]]].as_py(),
            }
        )
    return Analysis(
        name="topics",
        title="What the notes are about",
        version=snapshot.version,
        summary=(f"Topics: {len(rows):,}, of {len(codes):,} chunks.",),
        table=pa.Table.from_pylist(rows, schema=_SCHEMA),
        chart=Chart(
            "bars",
            "chunks",
            "",
            {"chunks": [row["chunks"] for row in rows]},
            labels=[name_of(found) for found in words],
        ),
    )


def name_of(words: list[str]) -> str:
    """A topic's name for people."""
    return ", ".join(words[:4]) or "(no words)"


def words_of(snapshot: Snapshot, chunks: pa.Table, groups: Grouping) -> list[list[str]]:
    """The words that tell each topic, by the beginnings of the texts nearest to its middle.

    Args:
        chunks: path and chunk_index of the chunks that were grouped.
    """
    # Row by row, the nearest of each topic first.
    order = np.lexsort((-groups.closeness, groups.topic))
    edges = np.searchsorted(groups.topic[order], np.arange(groups.count + 1))
    nearest = [order[start : min(end, start + _TEXTS_A_TOPIC)] for start, end in pairwise(edges)]
    some = np.concatenate(nearest) if nearest else np.empty(0, np.int64)
    keys = chunks.take(pa.array(some)).to_pylist()
    found = snapshot.rows([(key["path"], key["chunk_index"]) for key in keys])
    texts = iter(found[key["path"], key["chunk_index"]].chunk.text[:_TEXT_CHARS] for key in keys)
    return keywords([[next(texts) for _ in own] for own in nearest])
