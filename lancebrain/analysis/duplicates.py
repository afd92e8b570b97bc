"""Near-duplicate notes: documents that say the same as another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lancebrain.analysis.documents import read_documents
from lancebrain.analysis.geometry import Matrix, steady
from lancebrain.analysis.meaning import alike, document_meanings
from lancebrain.analysis.result import Analysis, Chart
from lancebrain.analysis.texts import shared_share
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

THRESHOLD = 0.95
"""Cosine of two documents' vectors from which they are worth a look."""

_READ_AT_ONCE = 500
_BARS = 20
_SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("like", pa.string()),
        ("shared_text", pa.float64()),
        ("similarity", pa.float64()),
        ("characters", pa.int64()),
        ("title", pa.string()),
    ]
)


def duplicates(snapshot: Snapshot, wanted: Filter, *, threshold: float = THRESHOLD) -> Analysis:
    """Documents that mean nearly the same as one before them, with how much text they share.

    Copies of a file are found without vectors. Each document is told once, with the first by
    path that it is like.

    Args:
        threshold: the cosine from which two documents are told, 0 to 1.
    """
    about = ("path", "title", "sha256", "characters", "chunks")
    documents = {row["path"]: row for row in read_documents(snapshot, wanted, about).to_pylist()}
    copies = dict(_copies(documents))
    found = [(path, first, 1.0) for path, first in copies.items()]
    meanings = document_meanings(snapshot, wanted)
    with steady():
        found += _near(meanings.paths, meanings.vectors, threshold, copies)
    shared = _shared(snapshot, [(path, first) for path, first, _ in found], copies)
    rows = [
        {
            "path": path,
            "like": first,
            "shared_text": share,
            "similarity": min(1.0, round(similarity, 4)),
            "characters": documents[path]["characters"],
            "title": documents[path]["title"],
        }
        for (path, first, similarity), share in zip(found, shared, strict=True)
    ]
    rows.sort(key=lambda row: (-row["shared_text"], -row["similarity"], row["path"]))
    return Analysis(
        name="duplicates",
        title="Notes that say the same as another",
        version=snapshot.version,
        summary=(
            f"Notes that are like another: {len(rows):,} of {len(documents):,}; "
            f"copies: {len(copies):,}.",
        ),
        table=pa.Table.from_pylist(rows, schema=_SCHEMA),
        chart=Chart(
            "bars",
            "similarity",
            "",
            {"similarity": [row["similarity"] for row in rows[:_BARS]]},
            labels=[f"{row['path']} ~ {row['like']}" for row in rows[:_BARS]],
        ),
    )


def _copies(documents: dict[str, dict[str, object]]) -> Iterator[tuple[str, str]]:
    """Documents whose file has the same bytes as one before, with that one; blank ones are none."""
    first: dict[object, str] = {}
    for path, row in documents.items():
        if row["chunks"]:
            original = first.setdefault(row["sha256"], path)
            if original != path:
                yield path, original


def _near(
    paths: list[str], vectors: Matrix, threshold: float, copies: dict[str, str]
) -> Iterator[tuple[str, str, float]]:
    is_told = np.array([path in copies for path in paths], bool)
    left = np.flatnonzero(~is_told)
    is_told = np.zeros(len(left), bool)
    for first, others, cosines in alike(vectors[left], threshold):
        if is_told[first]:
            continue
        for other, cosine in zip(others.tolist(), cosines.tolist(), strict=True):
            if not is_told[other]:
                is_told[other] = True
                yield paths[left[other]], paths[left[first]], cosine


def _shared(
    snapshot: Snapshot, pairs: list[tuple[str, str]], copies: dict[str, str]
) -> Iterator[float]:
    """How much of their text two documents share, from 0 to 1."""
    for at in range(0, len(pairs), _READ_AT_ONCE):
        some = pairs[at : at + _READ_AT_ONCE]
        paths = {path for pair in some for path in pair if pair[0] not in copies}
        chunks = snapshot.chunks(sorted(paths))
        texts = {
            path: "".join(stored.chunk.text for stored in found) for path, found in chunks.items()
        }
        for path, first in some:
            yield 1.0 if path in copies else shared_share(texts[path], texts[first])
