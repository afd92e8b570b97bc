"""Candidates of both legs become one ranking."""

from __future__ import annotations

from lancebrain.search.legs import Key, KeywordLeg
from lancebrain.search.question import parse
from lancebrain.search.ranking import fused
from lancebrain.store import Candidate


def found(**scored: tuple[float, str]) -> dict[Key, Candidate]:
    return {(name, 0): Candidate(name, 0, *it) for name, it in scored.items()}


def order(
    question: str,
    words: dict[Key, Candidate],
    vectors: dict[Key, Candidate],
    weight: float = 0.4,
    phrases: tuple[str, ...] = (),
) -> list[str]:
    ranked = fused(parse(question), KeywordLeg(words, phrases), vectors, weight=weight)
    assert [item.score for item in ranked] == sorted((i.score for i in ranked), reverse=True)
    return [item.key[0] for item in ranked]


def test_the_right_note_by_meaning_stays_before_accidental_words() -> None:
    words = found(junk=(9.0, "what the machine said about the weather"))
    vectors = found(right=(0.6, "restart the printer"), junk=(0.3, "what the machine said"))
    assert order("how do I get the broken label machine going again", words, vectors)[0] == "right"


def test_a_look_up_stays_before_what_is_only_alike() -> None:
    words = found(right=(9.0, "E0382: use of moved value"))
    vectors = found(alike=(0.8, "errors of the borrow checker"), right=(0.2, "E0382: use of"))
    assert order("E0382", words, vectors)[0] == "right"


def test_the_whole_question_in_a_text_lifts_it() -> None:
    words = found(
        apart=(5.0, "red here, and far away a fox"), together=(5.0, "the RED\n fox is here")
    )
    assert order("red fox", words, {}, weight=0.0) == ["together", "apart"]


def test_by_meaning_alone_the_letter_does_not_count() -> None:
    vectors = found(alike=(0.8, "something else"), literal=(0.7, "red fox"), far=(0.1, "x"))
    assert order("red fox", {}, vectors, weight=1.0) == ["alike", "literal", "far"]


def test_what_covers_no_term_is_ordered_by_its_words() -> None:
    words = found(less=(1.0, "索 引"), more=(2.0, "引 索"))
    assert order("索引", words, {}, weight=0.0) == ["more", "less"]


def test_equal_scores_are_ordered_by_key() -> None:
    words = found(b=(1.0, "fox"), a=(1.0, "fox"), c=(1.0, "fox"))
    assert order("fox", words, {}, weight=0.0) == ["a", "b", "c"]


def test_a_phrase_leaves_out_what_only_the_vectors_found_without_it() -> None:
    words = found(by_word=(1.0, "quick, brown"))
    vectors = found(without=(0.9, "brown and quick"), holding=(0.5, "the Quick\nbrown fox"))
    assert set(order('"quick brown"', words, vectors, phrases=("quick brown",))) == {
        "by_word",
        "holding",
    }


def test_no_candidates_make_no_ranking() -> None:
    assert order("fox", {}, {}) == []
