"""Linear algebra of the analyses, against the plainest way to compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lancebrain.analysis import meaning, projection
from lancebrain.analysis.geometry import k_means, nearest_centre, normalised, reduced
from lancebrain.analysis.meaning import alike, nearest_others
from lancebrain.analysis.projection import project


def around(groups: int, each: int, dim: int = 24, spread: float = 0.25) -> NDArray[np.float32]:
    """Unit vectors, ``each`` around every one of some middles."""
    random = np.random.default_rng(3)
    middles = np.repeat(random.normal(size=(groups, dim)), each, axis=0)
    return normalised((middles + spread * random.normal(size=middles.shape)).astype(np.float32))


@pytest.mark.parametrize("threshold", [0.5, 0.9, 0.97])
@pytest.mark.parametrize("cells", [1 << 24, 700])
def test_every_pair_above_a_threshold_is_found(
    threshold: float, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "_CELLS_AT_ONCE", cells)
    vectors = around(20, 7)
    exact = np.triu(vectors @ vectors.T, 1)
    found = {
        (first, int(other))
        for first, others, _ in alike(vectors, threshold)
        for other in others.tolist()
    }
    assert found == {(int(i), int(j)) for i, j in zip(*np.nonzero(exact >= threshold), strict=True)}
    assert found


def test_the_loneliest_are_those_whose_nearest_is_farthest() -> None:
    vectors = np.concatenate([around(50, 60), around(40, 1)])
    exact = vectors @ vectors.T
    np.fill_diagonal(exact, -2)
    rows, nearest, cosines = nearest_others(vectors, 30)
    lonely = np.argsort(exact.max(axis=1))[:30]
    assert set(rows.tolist()) == set(lonely.tolist())
    np.testing.assert_allclose(cosines, exact.max(axis=1)[rows], atol=1e-5)
    assert nearest.tolist() == exact[rows].argmax(axis=1).tolist()


def test_a_count_beyond_all_gives_all() -> None:
    rows, _, _ = nearest_others(around(2, 2), 100)
    assert sorted(rows.tolist()) == [0, 1, 2, 3]


def test_groups_that_lie_apart_are_told_apart() -> None:
    vectors = around(6, 40)
    topic = nearest_centre(vectors, k_means(vectors, 6))
    for group in topic.reshape(6, 40):
        assert len(set(group.tolist())) == 1
    assert len(set(topic.tolist())) == 6


def test_fewer_points_than_groups_give_a_group_each() -> None:
    assert len(k_means(around(3, 1), 10)) == 3
    assert len(k_means(np.ones((5, 4), np.float32), 3)) == 1
    assert len(k_means(np.empty((0, 4), np.float32), 3)) == 0


def test_few_dimensions_keep_what_differs_most() -> None:
    vectors = around(4, 20, spread=0.01)
    few = reduced(vectors, 3)
    assert few.shape == (80, 3)
    far = np.linalg.norm(vectors[0] - vectors[-1])
    assert np.linalg.norm(few[0] - few[-1]) == pytest.approx(far, rel=0.05)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_a_map_of_few_has_a_place_for_each(count: int) -> None:
    places = project(around(5, 1)[:count])
    assert places.shape == (count, 2)
    assert places.dtype == np.float32
    assert np.isfinite(places).all()
    assert np.abs(places).max(initial=0) <= 1


def test_equal_vectors_have_one_place() -> None:
    places = project(np.repeat(around(1, 1), 50, axis=0))
    assert len(np.unique(places, axis=0)) == 1


@pytest.mark.parametrize("landmarks", [1_000, 90])
def test_a_map_is_the_same_each_time_and_keeps_groups_together(
    landmarks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "_LANDMARKS", landmarks)  # more and fewer than vectors
    vectors = around(15, 20)
    places = project(vectors)
    np.testing.assert_array_equal(places, project(vectors.copy()))
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distances, np.inf)
    group = np.repeat(np.arange(15), 20)
    assert (group[distances.argmin(axis=1)] == group).mean() > 0.95
