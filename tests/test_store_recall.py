"""The vector index: what it finds of the nearest, and that what is outside of it is found too."""

from __future__ import annotations

from pathlib import Path

import pytest

from lancebrain.brain.state import status_of
from lancebrain.store import Recall, Store, indices
from lancebrain.types import Filter
from tests.stored import make_store, put, vector_of


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An index whose vector index pays from 300 vectors on."""
    monkeypatch.setattr(indices, "_VECTOR_INDEX_ROWS", 300)
    store = make_store(tmp_path)
    put(store, {f"n/{number}.md": [f"text {number}", f"more {number}"] for number in range(200)})
    return store


def maintain(store: Store) -> None:
    with store.lock(5):
        store.maintain()


def nearest(store: Store, text: str, *, exact: bool = False) -> str:
    found = store.snapshot().vector_candidates(vector_of(text), Filter(), 1, exact=exact)
    return found[0].text


def test_maintenance_compares_a_new_vector_index_with_every_vector(store: Store) -> None:
    assert store.recall.read() is None
    maintain(store)
    recall = store.recall.read()
    assert recall is not None
    assert (recall.vectors, recall.version) == (400, store.snapshot().version)
    assert recall.share > 0.9


def test_rows_outside_of_the_vector_index_are_found(store: Store) -> None:
    maintain(store)
    before = store.recall.read()
    put(store, {"n/new.md": ["something new"], "n/1.md": ["edited"]})
    for exact in (False, True):
        assert nearest(store, "something new", exact=exact) == "something new"
        assert nearest(store, "edited", exact=exact) == "edited"
    assert nearest(store, "text 1") != "text 1"
    assert store.recall.read() == before


def test_a_low_recall_is_a_problem_that_the_status_tells(store: Store) -> None:
    maintain(store)
    status = status_of(store, store.snapshot(), (), ())
    assert status.recall is not None
    assert "recall-low" not in [problem.code for problem in status.problems]
    with store.lock(5):
        store.recall.write(Recall(0.5, 400, 3))
    status = status_of(store, store.snapshot(), (), ())
    assert status.recall == 0.5
    assert "recall-low" in [problem.code for problem in status.problems]
    with store.lock(5):
        store.rebuild_indices()
    assert status_of(store, store.snapshot(), (), ()).recall != 0.5
