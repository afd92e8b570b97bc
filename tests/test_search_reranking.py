"""Reranking: the first hits in a new order, within the time that is given."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lancebrain.search import Reranking, reranking, search
from lancebrain.store import Store
from lancebrain.types import Answer, Query
from tests.stored import make_store, put

WORDS = 40


class ByNumber:
    """A reranker that likes the text with the highest number best."""

    name = "by-number"

    def __init__(self, seconds: float = 0.0) -> None:
        self.seen: list[str] = []
        self._seconds = seconds

    def score(self, question: str, passages: Sequence[str]) -> np.ndarray:
        time.sleep(self._seconds)
        self.seen += passages
        return np.array([int(text.split()[1]) / 100 for text in passages], np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = make_store(tmp_path)
    texts = {f"n/{n:02}.md": [f"number {n} fox " + f"fox{n} " * n] for n in range(WORDS)}
    put(store, texts)
    return store


def ask(store: Store, how: Reranking | None, **query: int) -> Answer:
    return search(
        store.snapshot(), Query("fox", mode="keyword", **query), None, reranking=how, live=False
    )


def numbers(answer: Answer) -> list[int]:
    return [int(hit.path[2:4]) for hit in answer.hits]


def test_the_first_thirty_are_put_in_order_and_the_rest_stay_behind(store: Store) -> None:
    plain = numbers(ask(store, None, limit=WORDS))
    model = ByNumber()
    answer = ask(store, Reranking(model, 60.0), limit=WORDS)
    assert len(model.seen) == reranking.FIRST
    assert numbers(answer)[:30] == sorted(plain[:30], reverse=True)
    assert numbers(answer)[30:] == plain[30:]
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert answer.notes == ()


def test_a_page_is_taken_from_the_new_order(store: Store) -> None:
    whole = numbers(ask(store, Reranking(ByNumber(), 60.0), limit=12))
    page = ask(store, Reranking(ByNumber(), 60.0), limit=4, offset=4)
    assert (numbers(page), page.has_more) == (whole[4:8], True)


def test_when_the_time_is_over_the_others_keep_their_order(store: Store) -> None:
    plain = numbers(ask(store, None, limit=30))
    answer = ask(store, Reranking(ByNumber(seconds=0.05), 0.0), limit=30)
    assert numbers(answer)[:5] == sorted(plain[:5], reverse=True)
    assert numbers(answer)[5:] == plain[5:]
    assert answer.notes == ("There was time to rerank 5 of the first 30 hits.",)


def test_nothing_found_is_nothing_to_rerank(store: Store) -> None:
    found = search(
        store.snapshot(),
        Query("wolverine", mode="keyword"),
        None,
        reranking=Reranking(ByNumber(), 1.0),
    )
    assert (found.hits, found.notes) == ((), ())
