"""What documents are about, as one vector each, and how alike two of them are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lancebrain.analysis.chunks import read_vectors
from lancebrain.analysis.geometry import Matrix, blocks, normalised, principal_axes, sampled
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

_BOUND_DIMENSIONS = 64
_PAIRS_AT_ONCE = 16_384
_CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True, slots=True)
class Meanings:
    """Documents that have vectors.

    Attributes:
        paths: in their order.
        vectors: (n, dim) float32 of length 1: the sum of a document's chunk vectors.
    """

    paths: list[str]
    vectors: Matrix


def document_meanings(snapshot: Snapshot, wanted: Filter) -> Meanings:
    """The documents that a filter lets pass and that have a vector."""
    chunks, vectors = read_vectors(snapshot, wanted, ("path",))
    paths = chunks["path"].combine_chunks().dictionary_encode()
    starts = np.flatnonzero(np.diff(paths.indices.to_numpy(), prepend=-1))
    if not len(starts):
        return Meanings([], vectors)
    return Meanings(
        paths.dictionary.to_pylist(), normalised(np.add.reduceat(vectors, starts, axis=0))
    )


def alike(vectors: Matrix, threshold: float) -> Iterator[tuple[int, NDArray[np.int64], Matrix]]:
    """Of each row, the later rows whose cosine with it is at least the threshold.

    Exact, though only few pairs are compared in all dimensions: with P the part of a vector in
    the first directions of greatest variance and r the length of the rest, x·y ≤ Px·Py + rx·ry.

    Args:
        vectors: (n, dim) float32 of length 1.

    Yields:
        A row that has any, those rows in order, and the cosines.
    """
    if len(vectors) < 2:
        return
    bounding = _bounding(vectors)
    for rows in blocks(len(vectors), max(1, _CELLS_AT_ONCE // max(1, len(vectors)))):
        bounds = bounding[rows] @ bounding[rows.start :].T
        first, second = np.nonzero(np.triu(bounds >= threshold - 1e-4, 1))
        cosines = _cosines(vectors, first + rows.start, second + rows.start)
        kept = cosines >= threshold
        first, second, cosines = first[kept], second[kept] + rows.start, cosines[kept]
        edges = np.flatnonzero(np.diff(first, prepend=-1, append=-1))
        for start, end in pairwise(edges):
            yield int(first[start]) + rows.start, second[start:end], cosines[start:end]


def nearest_others(
    vectors: Matrix, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Matrix]:
    """The ``count`` rows whose nearest other row is farthest away, the loneliest first.

    Exact. A row that is near any of a sample is out as soon as ``count`` others are known to be
    lonelier; only what remains is compared with all.

    Args:
        vectors: (n, dim) float32 of length 1; n is at least 2.

    Returns:
        The rows, the row nearest to each, and their cosine.
    """
    at_least = np.full(len(vectors), -2, np.float32)
    sample = sampled(len(vectors), 2_048)
    for rows in blocks(len(vectors)):
        cosines = vectors[rows] @ vectors[sample].T
        cosines[np.arange(rows.start, rows.stop)[:, None] == sample] = -2
        at_least[rows] = cosines.max(axis=1)
    nearest = np.full(len(vectors), -1, np.int64)
    exact = np.full(len(vectors), np.inf, np.float32)
    left = np.argsort(at_least, kind="stable")
    while len(left):
        some, left = left[: max(4 * count, 256)], left[max(4 * count, 256) :]
        exact[some], nearest[some] = _nearest(vectors, some)
        limit = np.partition(exact, min(count, len(exact)) - 1)[min(count, len(exact)) - 1]
        left = left[at_least[left] < limit]
    loneliest = np.argsort(exact, kind="stable")[:count]
    return loneliest, nearest[loneliest], exact[loneliest]


def _nearest(vectors: Matrix, some: NDArray[np.int64]) -> tuple[Matrix, NDArray[np.int64]]:
    best = np.full(len(some), -2, np.float32)
    nearest = np.full(len(some), -1, np.int64)
    for rows in blocks(len(vectors)):
        cosines = vectors[some] @ vectors[rows].T
        cosines[some[:, None] == np.arange(rows.start, rows.stop)] = -2
        found = cosines.argmax(axis=1)
        value = cosines[np.arange(len(some)), found]
        better = value > best
        best[better], nearest[better] = value[better], found[better] + rows.start
    return best, nearest


def _bounding(vectors: Matrix) -> Matrix:
    """(n, few) whose products are never less than the cosines."""
    mean, axes = principal_axes(vectors, _BOUND_DIMENSIONS)
    basis, _ = np.linalg.qr(np.column_stack([mean, axes]))
    out = np.empty((len(vectors), basis.shape[1] + 1), np.float32)
    for rows in blocks(len(vectors)):
        part = vectors[rows] @ basis
        out[rows, :-1] = part
        rest = 1 - np.einsum("ij,ij->i", part, part)
        out[rows, -1] = np.sqrt(np.maximum(rest, 0))
    return out


def _cosines(vectors: Matrix, first: NDArray[np.int64], second: NDArray[np.int64]) -> Matrix:
    out = np.empty(len(first), np.float32)
    for rows in blocks(len(first), _PAIRS_AT_ONCE):
        out[rows] = np.einsum("ij,ij->i", vectors[first[rows]], vectors[second[rows]])
    return out
