"""Measures against values worked out by hand, and the files of labelled questions."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.errors import UsageError
from lancebrain.evaluation import (
    LabelledQuestion,
    Paragraph,
    evaluate,
    load_labelled_set,
    load_questions,
    mrr,
    ndcg_at_k,
    r_precision,
    recall_at_k,
)
from tests.trees import write_tree

LETTERS = list("abcdefghijklmno")


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    assert ndcg_at_k(["a", "b"], {"a": 1}) == 1
    assert ndcg_at_k(["b", "a"], {"a": 1}) == pytest.approx(1 / math.log2(3))
    assert ndcg_at_k(["x", "a", "y", "b"], {"a": 1, "b": 1}) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    )


def test_ndcg_weighs_grades() -> None:
    ideal = 3 + 1 / math.log2(3)
    assert ndcg_at_k(["b", "a"], {"a": 3, "b": 1}) == pytest.approx((1 + 3 / math.log2(3)) / ideal)


def test_what_is_beyond_k_does_not_count() -> None:
    ranking = LETTERS
    assert ndcg_at_k(ranking, {"k": 1}) == 0
    assert ndcg_at_k(ranking, {"j": 1}) > 0
    assert recall_at_k(ranking, {"j": 1, "k": 1}) == 0.5
    assert mrr(ranking, {"k": 1}) == pytest.approx(1 / 11)


def test_the_first_of_several_relevant_documents_makes_the_reciprocal_rank() -> None:
    assert mrr(["x", "a", "b"], {"a": 1, "b": 1}) == 0.5
    assert mrr(["x"], {"a": 1}) == 0


def test_r_precision_looks_at_as_many_as_are_relevant() -> None:
    assert r_precision(["a", "x", "b"], {"a": 1, "b": 1}) == 0.5
    assert r_precision(["x", "a"], {"a": 1}) == 0


def test_a_grade_of_zero_is_not_relevant() -> None:
    assert recall_at_k(["a"], {"a": 0, "b": 1}) == 0
    assert mrr(["a"], {"a": 0}) == 0
    assert ndcg_at_k(["a"], {"a": 0}) == 0


@given(st.permutations(LETTERS), st.sets(st.sampled_from(LETTERS), min_size=1))
def test_measures_are_between_0_and_1_and_1_for_the_ideal_ranking(
    ranking: list[str], relevant: set[str]
) -> None:
    judgements = dict.fromkeys(relevant, 1)
    ideal = sorted(LETTERS, key=lambda letter: letter not in relevant)
    for measure in (ndcg_at_k, mrr, r_precision):
        assert 0 <= measure(ranking, judgements) <= measure(ideal, judgements) == pytest.approx(1)
    assert 0 <= recall_at_k(ranking, judgements) <= recall_at_k(ideal, judgements)


@given(st.lists(st.sampled_from(LETTERS), max_size=30))
def test_a_document_found_twice_counts_where_it_is_first(ranking: list[str]) -> None:
    once = list(dict.fromkeys(ranking))
    judgements = {"a": 1, "b": 1}
    for measure in (ndcg_at_k, recall_at_k, mrr, r_precision):
        assert measure(ranking, judgements) == measure(once, judgements)


def test_evaluate_averages_over_the_questions_that_have_an_answer() -> None:
    answers = {"one": ["a", "b"], "two": ["x", "b"], "three": ["c"]}
    scores = evaluate(
        lambda question: answers[question],
        {"1": "one", "2": "two", "3": "three"},
        {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 0}},
    )
    assert scores.questions == 2
    assert scores.mrr == 0.75
    assert scores.recall_at_10 == 1
    assert scores.r_precision == 0.5
    assert scores.ndcg_at_10 == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_evaluate_without_any_answer_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        evaluate(lambda question: [], {"1": "one"}, {"1": {"a": 0}})


def test_a_labelled_set_is_read_from_its_three_files(tmp_path: Path) -> None:
    write_tree(
        tmp_path / "animals",
        {
            "corpus.jsonl": '{"_id": "d1", "title": "Cats", "text": "a\u2028b"}\n\n'
            '{"_id": "d2", "text": "Dogs bark."}\n',
            "queries.jsonl": '{"_id": "q1", "text": "who barks?"}\n',
            "qrels.jsonl": '{"query-id": "q1", "corpus-id": "d2", "score": 1}\n',
        },
    )
    found = load_labelled_set(tmp_path / "animals")
    assert found.name == "animals"
    assert found.corpus == {"d1": Paragraph("Cats", "a\u2028b"), "d2": Paragraph("", "Dogs bark.")}
    assert found.queries == {"q1": "who barks?"}
    assert found.qrels == {"q1": {"d2": 1}}


def test_questions_are_read_a_line_each(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {"q.jsonl": '{"query": "猫?", "language": "ja", "kind": "cross", "paths": ["a.md"]}\n'},
    )
    assert load_questions(tmp_path / "q.jsonl") == [
        LabelledQuestion("猫?", "ja", "cross", ("a.md",))
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"query": "a"}', "Line 1"),
        ("\n{", "Line 2"),
        ("[]", "Line 1"),
        ('{"query": "a", "language": "en", "kind": "cross", "paths": []}', "no paths"),
    ],
)
def test_a_wrong_line_is_a_usage_error_that_says_where(
    tmp_path: Path, content: str, said: str
) -> None:
    write_tree(tmp_path, {"q.jsonl": content})
    with pytest.raises(UsageError, match=said):
        load_questions(tmp_path / "q.jsonl")


def test_a_missing_file_is_a_usage_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"corpus\.jsonl"):
        load_labelled_set(tmp_path)
