"""Candidates by keyword, substring and vector: what is found, whatever is asked."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lancebrain.store import RowBatch, Snapshot, Store
from lancebrain.store.reading import Reading
from lancebrain.types import Filter
from tests.stored import DIM, NOW, chunk, commit, make_store, put, state, unit

TEXTS = {
    "n/en.md": ["The quick brown fox jumps over the lazy dog.\n", "A fox in socks.\n"],
    "n/code.md": ["call read_file_at(path) in src/store/table.py\n", "camelCase stays whole\n"],
    "n/ja.md": ["日本語の全文検索を実装する。\n", "索引を作る。\n"],
    "n/zh.md": ["数据库的版本控制系统。\n"],
    "n/mixed.md": ["LanceDBで検索する don't 50% C++ naïve café\n"],
}


@pytest.fixture(scope="module", params=["indexed", "fresh"])
def snapshot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The same rows in the full-text index and outside of it."""
    store = make_store(tmp_path_factory.mktemp("candidates"))
    put(store, TEXTS)
    if request.param == "indexed":
        with store.lock(1):
            store.maintain(keep_versions=timedelta(days=1))
    return store.snapshot()


def test_passages_that_were_just_read_are_read_once_and_those_of_a_newer_version_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    put(store, TEXTS)
    snapshot, keys = store.snapshot(), [("n/zh.md", 0), ("n/ja.md", 1 << 20), ("n/none.md", 0)]
    both = snapshot.passages(keys)
    assert set(both.chunks) == {("n/zh.md", 0), ("n/ja.md", 1 << 20)}
    asked: list[object] = []
    read = Reading.take
    monkeypatch.setattr(Reading, "take", lambda *a: (asked.append(a[1]), read(*a))[1])
    assert snapshot.passages(keys[:1]) == both.of(keys[:1])
    assert set(snapshot.passages(keys[:1]).documents) == {"n/zh.md"}
    assert not asked
    put(store, {"n/zh.md": ["另一个文本。\n"]})
    newer = store.snapshot().passages(keys[:1])
    assert newer.chunks[keys[0]].text == "另一个文本。\n"
    assert asked


def keywords(snapshot: Snapshot, query: str) -> list[str]:
    return sorted({c.path[2:-3] for c in snapshot.keyword_candidates(query, Filter(), 10)})


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("fox", ["en"]),
        ("FOX", ["en"]),
        ("fox 検索", ["en", "ja", "mixed"]),
        ("file", ["code"]),
        ("read_file_at", ["code"]),
        ("table.py", ["code"]),
        ("検索", ["ja", "mixed"]),
        ("索引", ["ja"]),
        ("版本", ["zh"]),
        ("cafe", ["mixed"]),
        ("don't", ["mixed"]),
        ("the", ["en"]),
        ('"brown fox"', ["en"]),
        ('"fox brown"', []),
        ('"全文検索" fox', ["ja"]),
        ('"fox" 検索', ["en"]),
        ('"socks', ["en"]),
        ("missing", []),
        ("", []),
        ("   ", []),
        ('"" !? 。、 --', []),
        ("foxes", []),
    ],
)
def test_words_and_phrases_are_found(snapshot: Snapshot, query: str, found: list[str]) -> None:
    assert keywords(snapshot, query) == found


def test_the_best_match_comes_first_with_its_raw_score(snapshot: Snapshot) -> None:
    found = snapshot.keyword_candidates("fox socks", Filter(), 10)
    assert [c.text for c in found] == [TEXTS["n/en.md"][1], TEXTS["n/en.md"][0]]
    assert found[0].score > found[1].score > 0
    assert snapshot.keyword_candidates("fox socks", Filter(), 1) == found[:1]
    assert snapshot.keyword_candidates("fox", Filter(), 0) == []


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(st.characters(), max_size=30))
@example(query="\ud800")
@example(query="(\udfff*")
def test_no_query_is_refused(snapshot: Snapshot, query: str) -> None:
    for found in (
        snapshot.keyword_candidates(query, Filter(), 10),
        snapshot.keyword_candidates(f'"{query}" {query}', Filter(), 10),
        snapshot.substring_candidates(query, Filter(), 10),
    ):
        assert len(found) <= 9


def test_what_no_text_can_hold_is_found_in_none(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    put(store, {"n/?.md": ["Really? Yes."]})
    snapshot = store.snapshot()
    for needle in ("\ud800", "Really\udfff", "(\ud800*"):
        assert snapshot.substring_candidates(needle, Filter(), 10) == []
    for path in ("n/\ud800.md", "n/\ud800*", "*\ud800.md", "**/\ud800[a]*"):
        assert snapshot.keyword_candidates("yes", Filter(path=path), 10) == []
    assert len(snapshot.substring_candidates("Really?", Filter(), 10)) == 1


@pytest.mark.parametrize(
    "query", ["w1 " * 50_000, '"' + "w1 " * 50_000 + '"', '"w1 w2" ' * 5_000, "x" * 10**6]
)
def test_a_pasted_file_is_answered_soon(snapshot: Snapshot, query: str) -> None:
    started = time.perf_counter()
    snapshot.keyword_candidates(query, Filter(), 10)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("needle", "found"),
    [
        ("索", ["ja", "ja", "mixed"]),
        ("FOX", ["en", "en"]),
        ("camelc", ["code"]),
        ("don't", ["mixed"]),
        ("50%", ["mixed"]),
        ("_file_", ["code"]),
        ("c++", ["mixed"]),
        ("\\", []),
        ("", []),
    ],
)
def test_any_part_of_a_text_is_found(snapshot: Snapshot, needle: str, found: list[str]) -> None:
    candidates = snapshot.substring_candidates(needle, Filter(), 10)
    assert sorted(c.path[2:-3] for c in candidates) == found


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def test_the_nearest_come_first_with_their_cosine(store: Store) -> None:
    rows = RowBatch()
    for number, vector in enumerate([unit(1), unit(1, 1), unit(0, 1), unit(-1), None]):
        rows.chunk(state("n/a.md"), number, chunk(f"text {number}"), vector, NOW, NOW)
    commit(store, rows)
    found = store.snapshot().vector_candidates(unit(1), Filter(), 10)
    assert [c.text for c in found] == ["text 0", "text 1", "text 2", "text 3"]
    assert [c.score for c in found] == pytest.approx([1, 0.5**0.5, 0, -1], abs=1e-6)
    assert store.snapshot().vector_candidates(unit(1), Filter(), 2) == found[:2]
    assert store.snapshot().vector_candidates(unit(1), Filter(), 0) == []
    assert store.snapshot().vector_candidates(np.zeros(DIM, np.float32), Filter(), 5) == []


def test_an_empty_index_answers_with_nothing(store: Store) -> None:
    snapshot = store.snapshot()
    assert snapshot.keyword_candidates("word", Filter(), 5) == []
    assert snapshot.substring_candidates("word", Filter(), 5) == []
    assert snapshot.vector_candidates(unit(1), Filter(), 5) == []
    assert snapshot.documents() == snapshot.stats() == snapshot.chunks(["n/a.md"]) == {}
    assert (snapshot.chunk_count(), snapshot.pending(), snapshot.unembedded(5)) == (0, 0, [])
    assert snapshot.to_arrow().num_rows == 0
