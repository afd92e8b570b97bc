"""Any sequence of writes, with maintenance in between, leaves what a plain dict would hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from lancebrain.store import RowBatch, Snapshot, Store, maintenance
from lancebrain.types import DOCUMENT_ROW, Filter
from tests.stored import NOW, STEP, chunk, commit, make_store, state, unit, vector_of

WORDS = ("alpha", "beta", "gamma", "delta", "索引", "検索", "snake_case", "don't")
PATHS = [f"n/{folder}/{name}.md" for folder in "xy" for name in ("a", "b's", "c %_")]
_Key = tuple[str, int]
_Row = tuple[str, bool]  # text, embedded


class Model:
    """What the table should hold, and the same operations on both."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.random = random.Random(seed)
        self.chunks: dict[_Key, _Row] = {}
        self.documents: dict[str, int] = {}
        self.history: dict[int, tuple[dict[_Key, _Row], dict[str, int]]] = {}

    def write(self) -> None:
        rows = RowBatch()
        for _ in range(self.random.randint(1, 4)):
            path = self.random.choice(PATHS)
            kind = self.random.random()
            if kind < 0.2:
                self._remove(rows, path)
            elif kind < 0.4 and (keys := [key for key in self.chunks if key[0] == path]):
                self._take_out(rows, self.random.choice(keys))
            else:
                self._put_in(rows, path)
        commit(self.store, rows)
        self._remember()

    def _remove(self, rows: RowBatch, path: str) -> None:
        rows.tombstone(path, DOCUMENT_ROW)
        self.documents.pop(path, None)
        for key in [key for key in self.chunks if key[0] == path]:
            self._take_out(rows, key)

    def _take_out(self, rows: RowBatch, key: _Key) -> None:
        rows.tombstone(*key)
        del self.chunks[key]

    def _put_in(self, rows: RowBatch, path: str) -> None:
        size = self.random.randint(0, 10**6)
        rows.document(state(path, size=size))
        self.documents[path] = size
        for _ in range(self.random.randint(0, 3)):
            index = self.random.randint(0, 5) * STEP
            text = " ".join(self.random.sample(WORDS, 3)) + f" {self.random.randint(0, 99)}"
            embedded = self.random.random() < 0.7
            vector = vector_of(text) if embedded else None
            rows.chunk(state(path, size=size), index, chunk(text), vector, NOW, NOW)
            self.chunks[path, index] = (text, embedded)

    def embed(self) -> None:
        keys = [key for key, (_, embedded) in self.chunks.items() if not embedded][:3]
        keys.append(("n/gone.md", 0))
        with self.store.lock(10):
            vectors = [vector_of(self.chunks[k][0]) if k in self.chunks else unit(1) for k in keys]
            self.store.set_vectors(keys, np.stack(vectors))
        for key in keys[:-1]:
            self.chunks[key] = (self.chunks[key][0], True)
        self._remember()

    def maintain(self) -> None:
        with self.store.lock(10):
            self.store.maintain(keep_versions=timedelta(days=1))

    def index(self) -> None:
        with self.store.lock(10):
            self.store.ensure_indices()

    def restore(self) -> None:
        version = self.random.choice(list(self.history))
        with self.store.lock(10):
            self.store.restore(version)
        chunks, documents = self.history[version]
        self.chunks, self.documents = dict(chunks), dict(documents)
        self._remember()

    def _remember(self) -> None:
        version = self.store.snapshot().version
        self.history[version] = (dict(self.chunks), dict(self.documents))


def check(snapshot: Snapshot, chunks: dict[_Key, _Row], documents: dict[str, int]) -> None:
    """The snapshot holds exactly this, by scan, keyword, substring and vector."""
    assert {p: s.size for p, s in snapshot.stats().items()} == documents
    rows = snapshot.to_arrow(["path", "chunk_index", "text", "embedded"]).to_pylist()
    live = [row for row in rows if row["chunk_index"] != DOCUMENT_ROW]
    assert len(live) == len(chunks)
    assert {
        (row["path"], row["chunk_index"]): (row["text"], row["embedded"]) for row in live
    } == chunks
    assert snapshot.pending() == sum(not embedded for _, embedded in chunks.values())
    for word in ("alpha", "索引", "snake", "don't"):
        found = snapshot.keyword_candidates(word, Filter(), 1_000)
        wanted = {key: text for key, (text, _) in chunks.items() if word in text}
        assert {(c.path, c.chunk_index): c.text for c in found} == wanted, word
        held = snapshot.substring_candidates(word, Filter(path="n/x/"), 1_000)
        assert sorted((c.path, c.chunk_index) for c in held) == sorted(
            key for key in wanted if key[0].startswith("n/x/")
        )
    query = vector_of("query")
    nearest = snapshot.vector_candidates(query, Filter(), 5)
    cosines = {
        key: float(vector_of(text) @ query) for key, (text, embedded) in chunks.items() if embedded
    }
    assert [round(c.score, 4) for c in nearest] == pytest.approx(
        sorted(cosines.values(), reverse=True)[:5], abs=1e-3
    )
    for candidate in nearest:
        key = (candidate.path, candidate.chunk_index)
        assert candidate.score == pytest.approx(cosines[key], abs=1e-5)


def steps(model: Model, count: int) -> Iterator[str]:
    for _ in range(count):
        step = model.random.choices(
            ["write", "embed", "maintain", "index", "restore"], [12, 3, 2, 1, 2]
        )[0]
        if model.history or step in ("write", "index", "maintain"):
            getattr(model, step)()
            yield step


@pytest.mark.parametrize(
    ("seed", "count"), [(0, 20), *(pytest.param(n, 60, marks=pytest.mark.slow) for n in (1, 2))]
)
@pytest.mark.parametrize("indexed", [False, True])
def test_the_table_holds_what_a_dict_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, count: int, indexed: bool
) -> None:
    if indexed:  # small as the table is, let it have every index, and be kept up eagerly
        monkeypatch.setattr("lancebrain.store.indices._KEY_INDEX_ROWS", 0)
        eager = replace(maintenance.WHILE_FILLING, unindexed_rows=3)
        monkeypatch.setattr(maintenance, "WHILE_FILLING", eager)
    store = make_store(tmp_path)
    other = Store.open(store.folder)
    model = Model(store, seed)
    for step in steps(model, count):
        check(other.snapshot(), model.chunks, model.documents)
        assert step
    for version in model.random.sample(list(model.history), 4):
        check(store.snapshot(version), *model.history[version])


def test_a_vector_index_finds_what_is_near_also_among_later_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lancebrain.store.indices._VECTOR_INDEX_ROWS", 500)
    store = make_store(tmp_path)
    texts = [f"text {n}" for n in range(600)]

    def add(texts: list[str]) -> None:
        rows = RowBatch()
        for text in texts:
            rows.document(state(f"n/{text}"))
            rows.chunk(state(f"n/{text}"), 0, chunk(text), vector_of(text), NOW, NOW)
        commit(store, rows)

    add(texts[:550])
    with store.lock(10):
        report = store.maintain(keep_versions=timedelta(days=1))
    assert "vector" in report.rebuilt
    add(texts[550:])
    rows = RowBatch()
    rows.tombstone("n/text 3", 0)
    commit(store, rows)
    del texts[3]
    query = vector_of("query")
    wanted = sorted(texts, key=lambda text: -float(vector_of(text) @ query))[:20]
    found = store.snapshot().vector_candidates(query, Filter(), 20)
    assert len({c.text for c in found} & set(wanted)) >= 19
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert found[0].score == pytest.approx(float(vector_of(found[0].text) @ query), abs=1e-4)
    narrowed = store.snapshot().vector_candidates(query, Filter(path="n/text 7"), 20)
    assert [c.text for c in narrowed] == ["text 7"]
    with store.lock(10):
        assert "vector" not in store.maintain(keep_versions=timedelta(days=1)).rebuilt
