"""Linear algebra on many vectors: fewer dimensions, groups, neighbours, block by block.

Everything is deterministic: what is drawn at random has a fixed seed, and :func:`steady` keeps
sums in one order. Memory beyond the arguments and results is bounded by the size of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

BLOCK_ROWS = 2_048
_SAMPLE_ROWS = 20_000
_FEW_ROWS = 2_000
_SEED = 5


@contextmanager
def steady() -> Iterator[None]:
    """One thread for linear algebra: the same sums in the same order each time.

    On a busy machine this is also many times faster than two.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def blocks(count: int, rows: int = BLOCK_ROWS) -> Iterator[slice]:
    """Slices that cover so many rows."""
    for start in range(0, count, rows):
        yield slice(start, min(count, start + rows))


def sampled(count: int, wanted: int = _SAMPLE_ROWS) -> NDArray[np.int64]:
    """Up to so many row numbers, spread at random, in order; the same ones each time."""
    if count <= wanted:
        return np.arange(count)
    drawn = np.random.default_rng(_SEED).choice(count, wanted, replace=False)
    return np.sort(drawn).astype(np.int64)


def principal_axes(vectors: Matrix, wanted: int) -> tuple[Matrix, Matrix]:
    """The mean (dim,) and the directions of greatest variance (dim, at most ``wanted``).

    Of a sample where there are many. The greatest component of each direction is positive, so
    that a map does not flip from one run to the next.
    """
    some = vectors[sampled(len(vectors))]
    mean = some.mean(axis=0)
    centred = some - mean
    covariance = centred.T @ centred / max(1, len(some))
    _, axes = np.linalg.eigh(covariance.astype(np.float64))
    axes = axes[:, ::-1][:, :wanted]
    greatest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[greatest, np.arange(axes.shape[1])])
    return mean, np.ascontiguousarray(axes, np.float32)


def reduced(vectors: Matrix, wanted: int) -> Matrix:
    """The vectors in the directions of greatest variance: (n, at most ``wanted``) float32."""
    if not len(vectors):
        return vectors[:, :wanted]
    mean, axes = principal_axes(vectors, wanted)
    out = np.empty((len(vectors), axes.shape[1]), np.float32)
    for rows in blocks(len(vectors)):
        out[rows] = (vectors[rows] - mean) @ axes
    return out


def normalised(vectors: Matrix) -> Matrix:
    """Each row with length 1; one of zeros stays."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    unit: Matrix = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def nearest_centre(points: Matrix, centres: Matrix) -> NDArray[np.int64]:
    """The number of the nearest centre of each point."""
    half = 0.5 * np.einsum("ij,ij->i", centres, centres)
    found = np.empty(len(points), np.int64)
    for rows in blocks(len(points)):
        found[rows] = (points[rows] @ centres.T - half).argmax(axis=1)
    return found


def k_means(points: Matrix, count: int, rounds: int = 12) -> Matrix:
    """Centres of at most ``count`` groups, of a sample where there are many points.

    Begins with points that lie far from each other (k-means++); a group that empties goes.
    """
    if not len(points):
        return points
    some = points[sampled(len(points))]
    few = some[sampled(len(some), max(_FEW_ROWS, 8 * count))]
    centres = few[_spread(few, count)]
    for _ in range(rounds):
        group = nearest_centre(some, centres)
        sizes = np.bincount(group, minlength=len(centres))
        order = np.argsort(group, kind="stable")
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))[sizes > 0]
        sums = np.add.reduceat(some[order], starts, axis=0, dtype=np.float64)
        moved = (sums / sizes[sizes > 0, None]).astype(np.float32)
        if moved.shape == centres.shape and np.allclose(moved, centres, atol=1e-5):
            break
        centres = moved
    return centres


def _spread(points: Matrix, count: int) -> list[int]:
    """Row numbers of points to begin with, by k-means++; fewer where points are equal."""
    random = np.random.default_rng(_SEED)
    squares = np.einsum("ij,ij->i", points, points)
    chosen: list[int] = []
    far = np.full(len(points), np.inf, np.float32)
    weights = np.full(len(points), 1 / max(1, len(points)))
    for _ in range(min(count, len(points))):
        at = int(np.searchsorted(np.cumsum(weights), random.random() * weights.sum()))
        at = min(at, len(points) - 1)
        chosen.append(at)
        distance = squares - 2 * (points @ points[at]) + squares[at]
        far = np.minimum(far, np.maximum(distance, 0))
        far[at] = 0
        weights = far.astype(np.float64)
        if weights.sum() <= 1e-9:
            break
    return chosen
