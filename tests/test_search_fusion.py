"""The fused score: what each side contributes, and the bounds it keeps to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lancebrain.search.fusion import COVERAGE_POWER, LITERAL_BONUS, SCALED_OVER, fuse, scaled

NAN = float("nan")


def fused(
    cosine: list[float],
    bm25: list[float],
    coverage: list[float] | None = None,
    literal: list[bool] | None = None,
    weight: float = 0.4,
) -> NDArray[np.float64]:
    n = len(cosine)
    return fuse(
        np.array(cosine, dtype=float),
        np.array(bm25, dtype=float),
        np.array(coverage if coverage is not None else [1.0] * n),
        np.array(literal if literal is not None else [False] * n, dtype=bool),
        weight=weight,
    )


def test_the_score_is_the_weighted_sum_of_both_sides() -> None:
    scores = fused([0.9, 0.5, 0.1], [5.0, 10.0, 0.0], [0.5, 1.0, 0.0], [False, False, True])
    np.testing.assert_allclose(scores, [0.4 + 0.3 * 0.5**COVERAGE_POWER, 0.2 + 0.6, LITERAL_BONUS])


def test_a_keyword_match_by_accident_does_not_outrank_the_nearest_by_meaning() -> None:
    by_meaning, by_accident = fused([0.8, 0.2], [0.0, 9.0], [0.0, 0.25])
    assert by_meaning > by_accident


def test_half_of_the_words_by_accident_do_not_outrank_what_stands_out_by_meaning() -> None:
    # An English question; the right note is Chinese, and an English one has half of the words.
    by_meaning, by_accident, _ = fused([0.57, 0.23, 0.1], [0.0, 25.0, 0.0], [0.0, 0.5, 0.0])
    assert by_meaning > by_accident


def test_a_full_keyword_match_outranks_the_nearest_by_meaning() -> None:
    by_meaning, by_word = fused([0.8, NAN], [0.0, 9.0], [0.0, 1.0])
    assert by_word > by_meaning


def test_what_one_side_did_not_find_counts_nothing_there() -> None:
    np.testing.assert_allclose(fused([NAN, 0.7, 0.1], [3.0, 0.0, 0.0]), [0.6, 0.4, 0.0])


def test_a_weight_of_0_or_1_leaves_a_side_out() -> None:
    np.testing.assert_allclose(fused([0.9, 0.1], [1.0, 4.0], weight=0.0), [0.25, 1.0])
    np.testing.assert_allclose(fused([0.9, 0.1], [1.0, 4.0], weight=1.0), [1.0, 0.0])


def test_a_single_candidate_by_meaning_has_the_full_score() -> None:
    np.testing.assert_allclose(fused([0.3], [0.0]), [0.4])


def test_no_candidates_have_no_scores() -> None:
    assert fused([], []).shape == (0,)


def test_cosines_are_scaled_over_the_first_hundred_so_a_deeper_page_scores_alike() -> None:
    cosine = np.linspace(0.9, -0.9, 300)
    shallow, deep = scaled(cosine[:SCALED_OVER]), scaled(cosine)
    np.testing.assert_allclose(deep[:SCALED_OVER], shallow)
    assert not deep[SCALED_OVER:].any()


@given(
    st.lists(
        st.tuples(
            st.one_of(st.just(NAN), st.floats(-1, 1)),
            st.floats(0, 50),
            st.floats(0, 1),
            st.booleans(),
        ),
        max_size=30,
    ),
    st.floats(0, 1),
)
def test_scores_stay_within_bounds_and_do_not_depend_on_the_order(
    rows: list[tuple[float, float, float, bool]], weight: float
) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
    scores = fused(*columns, weight=weight)
    backwards = fused(*(column[::-1] for column in columns), weight=weight)
    assert ((scores >= 0) & (scores <= 1 + LITERAL_BONUS + 1e-9)).all()
    np.testing.assert_array_equal(scores, backwards[::-1])


def test_more_of_the_questions_words_never_score_less() -> None:
    scores = fused([0.5] * 5, [7.0] * 5, [0.0, 0.25, 0.5, 0.75, 1.0])
    assert list(scores) == sorted(scores)
    assert scores[0] == pytest.approx(0.4)
