"""The model of a table changes in one commit: texts, old versions and readers are left alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lancebrain.store import PlannedChange, Snapshot, Store, changing
from lancebrain.store.planned import ModelPlan
from lancebrain.types import Filter
from tests.stored import DIM, NOW, batch, chunk, commit, make_store, put, state, vector_of

NEW_DIM = 5
NEW = PlannedChange("other", "f2", NEW_DIM, datetime(2026, 3, 2, tzinfo=UTC))
NOTES = {
    "n/a.md": ["alpha fox", "beta"],
    "n/b.md": ["gamma fox"],
    "n/empty.md": [],
}


def new_vector(chunk_hash: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(chunk_hash.encode()).digest()[:4], "big")
    drawn = np.random.default_rng(seed).standard_normal(NEW_DIM).astype(np.float32)
    unit: NDArray[np.float32] = drawn / np.linalg.norm(drawn)
    return unit


def find_all(hashes: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    return {chunk_hash: new_vector(chunk_hash) for chunk_hash in hashes}


def find_none(hashes: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    return {}


def change(store: Store, find: changing.Find = find_all, to: PlannedChange = NEW) -> None:
    with store.lock(10):
        store.change_model(to, find)


def hash_of(text: str) -> str:
    return chunk(text).chunk_hash


def best(snapshot: Snapshot, vector: NDArray[np.float32]) -> str:
    return snapshot.vector_candidates(vector, Filter(), 1)[0].text


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = make_store(tmp_path)
    put(store, {path: texts for path, texts in NOTES.items() if path != "n/b.md"})
    put(store, {"n/b.md": NOTES["n/b.md"]})
    return store


def test_after_a_change_questions_are_answered_by_the_new_vectors(store: Store) -> None:
    change(store)
    snapshot = store.snapshot()
    assert (snapshot.info.model, snapshot.info.fingerprint, snapshot.info.dim) == ("other", "f2", 5)
    assert store.info == snapshot.info
    assert best(snapshot, new_vector(hash_of("beta"))) == "beta"
    found = snapshot.vectors([hash_of("gamma fox")])
    np.testing.assert_array_equal(found[hash_of("gamma fox")], new_vector(hash_of("gamma fox")))
    assert snapshot.pending() == 0
    assert len(snapshot.keyword_candidates("fox", Filter(), 9)) == 2


def test_no_text_leaves_the_full_text_index(store: Store) -> None:
    with store.lock(10):
        store.maintain()
    change(store)
    with store._handles.probe() as table:
        indexed = {index.columns[0]: index.num_unindexed_rows for index in table.list_indices()}
    assert indexed == {"text": 0, "path": 0, "chunk_index": 0, "chunk_hash": 0}


def test_older_versions_answer_by_their_own_model(store: Store) -> None:
    before = store.snapshot().version
    change(store)
    older = store.snapshot(before)
    assert (older.info.model, older.info.dim) == ("stand-in", DIM)
    assert best(older, vector_of("beta")) == "beta"


def test_going_back_brings_the_old_model_with_the_old_rows(store: Store) -> None:
    before = store.snapshot().version
    change(store)
    put(store, {"n/c.md": ["delta"]}, embed=False)
    with store.lock(10):
        store.restore(before)
    snapshot = store.snapshot()
    assert (store.info.fingerprint, snapshot.document_count()) == ("f1", 3)
    assert best(snapshot, vector_of("gamma fox")) == "gamma fox"
    put(store, {"n/d.md": ["epsilon"]})
    assert best(store.snapshot(), vector_of("epsilon")) == "epsilon"


def test_the_model_can_change_again_and_back(store: Store) -> None:
    change(store)
    change(store, to=PlannedChange("third", "f3", NEW_DIM, NOW))
    back = PlannedChange("stand-in", "f1", DIM, NOW)
    texts = [text for notes in NOTES.values() for text in notes]
    old = {hash_of(text): vector_of(text) for text in texts}
    change(store, lambda hashes: {h: old[h] for h in hashes}, back)
    assert store.info.fingerprint == "f1"
    assert best(store.snapshot(), vector_of("alpha fox")) == "alpha fox"


def test_rows_are_written_replaced_and_removed_after_a_change(store: Store) -> None:
    change(store)
    rows = batch({"n/a.md": ["alpha fox changed"]}, embed=False)
    rows.tombstone("n/b.md", 0)
    rows.tombstone("n/b.md", -1)
    rows.chunk(state("n/new.md"), 0, chunk("new"), new_vector(hash_of("new")), NOW, NOW)
    rows.document(state("n/new.md"))
    commit(store, rows)
    snapshot = store.snapshot()
    assert sorted(snapshot.stats()) == ["n/a.md", "n/empty.md", "n/new.md"]
    assert snapshot.pending() == 1
    with store.lock(10):
        store.set_vectors([("n/a.md", 0)], np.stack([new_vector(hash_of("alpha fox changed"))]))
    assert store.snapshot().pending() == 0
    assert best(store.snapshot(), new_vector(hash_of("new"))) == "new"
    with store.lock(10):
        store.maintain()
    assert best(store.snapshot(), new_vector(hash_of("alpha fox changed"))) == "alpha fox changed"
    assert store.snapshot().to_arrow(["path", "vector"]).num_rows == 6


def test_what_has_no_new_vector_is_pending_and_found_by_its_words(store: Store) -> None:
    wanted = hash_of("beta")
    change(store, lambda hashes: {h: new_vector(h) for h in hashes if h == wanted})
    snapshot = store.snapshot()
    assert snapshot.pending() == 2
    assert {row.text for row in snapshot.unembedded(9)} == {"alpha fox", "gamma fox"}
    assert len(snapshot.keyword_candidates("fox", Filter(), 9)) == 2
    assert len(snapshot.vector_candidates(new_vector(wanted), Filter(), 9)) == 1


def test_what_had_no_vector_before_has_one_when_the_new_model_gave_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    put(store, NOTES, embed=False)
    change(store)
    snapshot = store.snapshot()
    assert snapshot.pending() == 0
    assert best(snapshot, new_vector(hash_of("gamma fox"))) == "gamma fox"


@pytest.mark.parametrize("step", ["add_columns", "write_columns", "drop_columns"])
@pytest.mark.parametrize("find", [find_all, find_none])
def test_a_change_that_is_cut_short_leaves_the_old_model_and_can_be_done_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str, find: changing.Find
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, store.lock(10):
        if step == "write_columns":
            patched.setattr(changing, "write_columns", killed)
        else:
            patched.setattr(type(store._handles.writer.latest()), step, killed)
        with pytest.raises(Killed):
            store.change_model(NEW, find)
    left = Store.open(store.folder)
    assert left.info.fingerprint == "f1"
    assert best(left.snapshot(), vector_of("beta")) == "beta" or left.snapshot().pending()
    put(left, {"n/c.md": ["delta"]})
    assert best(left.snapshot(), vector_of("delta")) == "delta"
    assert set(left.snapshot().to_arrow().column_names) >= {"vector", "embedded"}
    change(left)
    assert best(left.snapshot(), new_vector(hash_of("delta"))) == "delta"
    assert left.snapshot().pending() == 0


def test_a_reader_goes_on_with_its_version_while_the_model_changes(store: Store) -> None:
    other = Store.open(store.folder)
    reading = other.snapshot()
    change(store)
    assert best(reading, vector_of("beta")) == "beta"
    assert other.snapshot().info.fingerprint == "f2"
    assert other.info.fingerprint == "f2"


def test_the_change_is_one_version(store: Store) -> None:
    before = store.snapshot().version
    change(store)
    (migrated,) = (record for record in store.commits.read() if record.version > before)
    assert (migrated.version, migrated.reason) == (store.snapshot().version, "migrate")
    assert (migrated.counts, migrated.note) == ({"embedded": 3}, "from stand-in to other")
    assert sorted(store.versions())[-2:] == [before, migrated.version]


def test_forgetting_keeps_the_texts_of_versions_of_another_model(store: Store) -> None:
    old = store.snapshot().version
    with store.lock(10):
        store.create_tag("old", old)
    change(store)
    with store.lock(10):
        kept = [old, store.snapshot().version]
        done = store.rewrite(kept, without=["n/b.md"], counts={}, started=0.0)
    assert best(store.snapshot(), new_vector(hash_of("beta"))) == "beta"
    older = store.snapshot(done.numbers[old])
    assert sorted(older.stats()) == ["n/a.md", "n/empty.md"]
    assert (older.info.fingerprint, older.pending()) == ("f2", 2)
    assert older.keyword_candidates("alpha", Filter(), 9)


def test_an_empty_table_takes_another_model(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    change(store)
    assert store.info.fingerprint == "f2"
    put(store, NOTES, embed=False)
    assert store.snapshot().pending() == 3


def test_a_large_table_has_its_vector_index_before_it_switches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lancebrain.store import indices

    monkeypatch.setattr(indices, "_VECTOR_INDEX_ROWS", 300)
    monkeypatch.setattr(indices, "_KEY_INDEX_ROWS", 300)
    put(store, {f"n/{number}.md": [f"number {number}"] for number in range(400)})
    with store.lock(10):
        store.maintain()
    change(store)
    with store._handles.probe() as table:
        indexed = {index.columns[0]: index.num_unindexed_rows for index in table.list_indices()}
        assert not indices.vectors_due(table)
    keys = ("path", "chunk_index", "chunk_hash")
    assert indexed == dict.fromkeys(("text", *keys, "vector_2"), 0)
    wanted = hash_of("number 77")
    assert best(store.snapshot(), new_vector(wanted)) == "number 77"


def test_a_plan_is_read_back_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    assert (store.plan.read(), store.plan.is_settled()) == (None, False)
    with store.lock(10):
        store.plan.put(NEW)
    assert ModelPlan(store.folder).read() == NEW
    with store.lock(10):
        store.plan.put(None)
    assert (store.plan.read(), store.plan.is_settled()) == (None, True)
    for damaged in (b"", b"{", b"[]", b'{"planned": {"model": 1}}', b'{"planned": 3}'):
        (store.folder / "model.json").write_bytes(damaged)
        assert store.plan.read() is None
