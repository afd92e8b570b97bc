"""Vectors → a map: two coordinates each, so that what is alike lies together.

A few hundred landmarks, the centres of small groups, are laid out by t-SNE (van der Maaten and
Hinton, 2008), exactly, since there are so few. Every vector then takes its place among the
landmarks next to it. So the time grows with the number of vectors, not with its square.
"""

from __future__ import annotations

import numpy as np

from lancebrain.analysis.geometry import Matrix, blocks, k_means, reduced, steady

_DIMENSIONS = 50
_LANDMARKS = 1_000
_NEIGHBOURS = 8
_SHARPNESS = 6
"""Of 6,183 real vectors this keeps 0.38 of the ten nearest on the map; t-SNE of all of them, in
thirty times the time, 0.48; their two directions of greatest variance 0.03. A greater one keeps
more, and draws all points together at the landmarks."""
_NO_DIFFERENCE = 1e-5
"""Of equal vectors: what rounding leaves."""
_PERPLEXITY = 20.0
_ROUNDS = 300
_EXAGGERATED_ROUNDS = 80


def project(vectors: Matrix) -> Matrix:
    """A place on the map for each vector.

    Args:
        vectors: (n, dim) float32.

    Returns:
        (n, 2) float32 within -1 and 1; the same for the same vectors.
    """
    with steady():
        points = reduced(vectors, _DIMENSIONS)
        if np.abs(points).max(initial=0) < _NO_DIFFERENCE:
            return np.zeros((len(points), 2), np.float32)
        landmarks = k_means(points, _LANDMARKS) if len(points) > _LANDMARKS else points
        places = _laid_out(landmarks)
        if landmarks is not points:
            places = _between(points, landmarks, places)
    places -= places.mean(axis=0) if len(places) else 0
    return places / max(1e-9, float(np.abs(places).max(initial=0)))


def _laid_out(points: Matrix) -> Matrix:
    """(n, 2) by t-SNE, beginning with the two directions of greatest variance."""
    count = len(points)
    places = np.zeros((count, 2), np.float32)
    places[:, : points.shape[1]] = points[:, :2]
    if count < 4:
        return places
    places *= 1e-4 / max(1e-12, float(places[:, 0].std()))
    likeness = _likeness(points, min(_PERPLEXITY, (count - 1) / 3))
    step, gain = np.zeros_like(places), np.ones_like(places)
    rate = np.float32(max(50.0, count / 12))
    exaggerated = 12 * likeness
    for at in range(_ROUNDS):
        early = at < _EXAGGERATED_ROUNDS
        squares = np.einsum("ij,ij->i", places, places)
        # In place: what is made anew each round takes longer than what is computed.
        near = places @ (-2 * places.T)
        near += squares[:, None]
        near += squares
        np.maximum(near, 0, out=near)
        near += 1
        np.reciprocal(near, out=near)
        np.fill_diagonal(near, 0)
        pull = near * (-1 / near.sum())
        pull += exaggerated if early else likeness
        pull *= near
        slope = 4 * (pull.sum(axis=1)[:, None] * places - pull @ places)
        gain = np.maximum(np.where(slope * step > 0, gain * 0.8, gain + 0.2), 0.01)
        step = (0.5 if early else 0.8) * step - rate * gain * slope
        places = places + step
    return places


def _likeness(points: Matrix, perplexity: float) -> Matrix:
    """How alike two points are, symmetric, 1 in all, each with about so many neighbours."""
    exact = points.astype(np.float64)
    squares = np.einsum("ij,ij->i", exact, exact)
    distances = np.maximum(squares[:, None] + squares - 2 * exact @ exact.T, 0)
    np.fill_diagonal(distances, np.inf)
    distances -= distances.min(axis=1, keepdims=True)
    low, high = np.zeros(len(exact)), np.full(len(exact), np.inf)
    sharpness = np.full(len(exact), 1 / max(1e-9, float(np.median(squares))))
    for _ in range(50):
        near = np.exp(-distances * sharpness[:, None])
        total = near.sum(axis=1)
        share = near / total[:, None]
        with np.errstate(invalid="ignore"):
            spread = np.where(share > 0, share * distances, 0).sum(axis=1)
        too_wide = np.log(total) + sharpness * spread > np.log(perplexity)
        low = np.where(too_wide, sharpness, low)
        high = np.where(too_wide, high, sharpness)
        middle = (low + np.where(np.isinf(high), 0, high)) / 2
        sharpness = np.where(np.isinf(high), sharpness * 2, middle)
    both = share + share.T
    likeness: Matrix = (both / both.sum()).astype(np.float32)
    return likeness


def _between(points: Matrix, landmarks: Matrix, places: Matrix) -> Matrix:
    """Places of points among those of the landmarks next to them, weighted by their distance."""
    around = min(_NEIGHBOURS, len(landmarks))
    half = 0.5 * np.einsum("ij,ij->i", landmarks, landmarks)
    out = np.empty((len(points), 2), np.float32)
    for rows in blocks(len(points)):
        own = points[rows]
        closeness = own @ landmarks.T - half
        near = np.argpartition(-closeness, around - 1, axis=1)[:, :around]
        squares = np.einsum("ij,ij->i", own, own)[:, None]
        distances = squares - 2 * np.take_along_axis(closeness, near, axis=1)
        distances = np.maximum(distances, 1e-6)
        weights = (distances.min(axis=1, keepdims=True) / distances) ** _SHARPNESS
        weights /= weights.sum(axis=1, keepdims=True)
        out[rows] = np.einsum("nk,nkp->np", weights, places[near])
    return out
