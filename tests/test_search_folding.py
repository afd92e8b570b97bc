"""Near-identical candidates become one hit that names the other places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lancebrain.search.folding import Ranked, distinct

LONG = (
    "the nightly backup copies the database to the second site and checks the copy against a "
    "list of sums before the old one is removed from the disk of the first site every morning "
    "and whoever is on call reads the report before nine and signs it in the book on the wall"
)


def ranked(*texts: str, terms: tuple[str, ...] = ()) -> list[Ranked]:
    return [
        Ranked((f"n/{at}.md", 0), 1 - at / 100, text, frozenset(t for t in terms if t in text))
        for at, text in enumerate(texts)
    ]


def shape(groups: list) -> list[list[str]]:  # type: ignore[type-arg]
    return [[item.key[0] for item in group.all()] for group in groups]


def test_equal_texts_fold_into_the_best_ranked() -> None:
    groups = distinct(ranked("one", "two", "one", "one"), 10)
    assert shape(groups) == [["n/0.md", "n/2.md", "n/3.md"], ["n/1.md"]]


def test_texts_that_differ_by_a_word_fold() -> None:
    groups = distinct(ranked(LONG, LONG.replace("nine", "noon"), "another"), 10)
    assert shape(groups) == [["n/0.md", "n/1.md"], ["n/2.md"]]


def test_a_text_that_shares_half_stays_on_its_own() -> None:
    assert len(distinct(ranked(LONG, LONG[: len(LONG) // 2] + "x" * 100), 10)) == 2


def test_short_texts_that_differ_in_a_digit_stay_on_their_own() -> None:
    assert len(distinct(ranked("error e0382", "error e0499"), 10)) == 2


def test_a_text_with_the_asked_word_is_never_folded_into_one_without() -> None:
    texts = (LONG.replace("nine", "noon"), LONG)
    assert len(distinct(ranked(*texts, terms=("nine",)), 10)) == 2
    assert len(distinct(ranked(*texts, terms=("backup",)), 10)) == 1


def test_equal_texts_are_found_beyond_the_count() -> None:
    groups = distinct(ranked("one", "two", "three", "one"), 2)
    assert shape(groups) == [["n/0.md", "n/3.md"], ["n/1.md"]]


@given(st.lists(st.sampled_from(["a", "b", "c", LONG, LONG + "!", LONG[:-3]]), max_size=20))
def test_pages_do_not_repeat_and_lose_nothing(texts: list[str]) -> None:
    candidates = ranked(*texts)
    whole = shape(distinct(candidates, len(texts) + 1))
    assert sorted(path for group in whole for path in group) == sorted(
        candidate.key[0] for candidate in candidates
    )
    for count in range(1, len(whole) + 1):
        assert [group[0] for group in shape(distinct(candidates, count))] == [
            group[0] for group in whole[:count]
        ]
