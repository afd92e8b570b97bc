"""The table as others use it: what goes in comes out, of one version, and never half."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lancebrain.errors import IndexMismatchError, IndexNotFoundError, StoreError, UsageError
from lancebrain.store import DocumentStat, Location, PlannedChange, RowBatch, Store
from lancebrain.store.one_version import OneVersion
from lancebrain.types import DOCUMENT_ROW, Filter, Problem
from tests.stored import (
    DIM,
    NOW,
    STEP,
    batch,
    chunk,
    commit,
    make_store,
    put,
    state,
    unit,
    vector_of,
)

ALL = Filter()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def test_no_index_is_told_with_the_way_to_make_one(tmp_path: Path) -> None:
    assert not Store.exists(tmp_path)
    with pytest.raises(IndexNotFoundError, match="lancebrain sync"):
        Store.open(tmp_path)
    with pytest.raises(IndexNotFoundError):
        Store.open(tmp_path / "nowhere")


def test_an_index_tells_what_it_was_made_with(tmp_path: Path) -> None:
    made = Store.create(tmp_path / "deep" / "index", model="m", fingerprint="f", dim=3)
    assert Store.exists(tmp_path / "deep" / "index")
    opened = Store.open(tmp_path / "deep" / "index")
    assert (opened.info.model, opened.info.fingerprint, opened.info.dim) == ("m", "f", 3)
    assert opened.info == made.info


def test_creating_over_an_index_opens_it(store: Store) -> None:
    put(store, {"n/a.md": ["text"]})
    again = Store.create(store.folder, model="other", fingerprint="f2", dim=99)
    assert again.info == store.info
    assert again.snapshot().chunk_count() == 1


def test_a_document_comes_back_as_it_went_in(store: Store) -> None:
    full = state(
        "n/a.md",
        domain="work",
        title="Title ‘quoted’",
        tags=("a", "b/c"),
        ctime_ns=3_000,
        metadata_json='{"x":1}',
        links=("other.md", "https://example.org/"),
        reader_state='{"offset":7}',
        raw=b"\xff\x00raw" * 100,
        problems=(Problem("n/a.md", "not-text", "It is not."),),
    )
    bare = state("n/b.md")
    rows = RowBatch()
    rows.document(full)
    rows.document(bare)
    commit(store, rows)
    snapshot = store.snapshot()
    assert snapshot.documents() == {"n/a.md": full, "n/b.md": bare}
    assert snapshot.documents(["n/b.md", "n/unknown.md"]) == {"n/b.md": bare}
    assert snapshot.documents([]) == {}
    assert snapshot.stats() == {
        s.path: DocumentStat(
            s.size, s.mtime_ns, s.ctime_ns, s.looked_at_ns, s.sha256, s.domain, s.kind, s.mime
        )
        for s in (full, bare)
    }
    assert list(snapshot.stats(["n/a.md"])) == ["n/a.md"]


def test_a_chunk_comes_back_as_it_went_in(store: Store) -> None:
    said = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    turn = chunk(
        "text\n", heading_path=("A", "B"), tags=("t",), role="user", said_at=said, line_count=2
    )
    later = NOW + timedelta(days=1)
    rows = RowBatch()
    rows.document(state("n/a.md"))
    rows.chunk(state("n/a.md"), 5, turn, unit(1), NOW, later)
    rows.chunk(state("n/a.md"), 2, chunk("first\n"), None, NOW, NOW)
    commit(store, rows)
    snapshot = store.snapshot()
    first, second = snapshot.chunks(["n/a.md"])["n/a.md"]
    assert (first.chunk_index, first.embedded) == (2, False)
    assert second.chunk == turn
    assert (second.embedded, second.created_at, second.updated_at) == (True, NOW, later)
    assert snapshot.rows([("n/a.md", 5), ("n/a.md", 6), ("n/b.md", 5)]) == {("n/a.md", 5): second}
    assert snapshot.chunks(["n/b.md"]) == {}


def test_of_two_rows_with_one_key_the_last_counts(store: Store) -> None:
    rows = RowBatch()
    rows.document(state("n/a.md"))
    rows.chunk(state("n/a.md"), 0, chunk("old"), None, NOW, NOW)
    rows.chunk(state("n/a.md"), 0, chunk("new"), None, NOW, NOW)
    rows.tombstone("n/b.md", 0)
    rows.chunk(state("n/b.md"), 0, chunk("back"), None, NOW, NOW)
    assert len(rows) == 3
    commit(store, rows)
    texts = store.snapshot().to_arrow(["text"])["text"].drop_null().to_pylist()
    assert sorted(texts) == ["back", "new"]


def test_an_empty_batch_makes_no_version(store: Store) -> None:
    before = put(store, {"n/a.md": ["text"]})
    assert commit(store, RowBatch()) == before
    assert store.snapshot().version == before


def test_removed_rows_are_invisible_everywhere(store: Store) -> None:
    put(store, {"n/gone.md": ["alpha one", "alpha two"], "n/stays.md": ["alpha three", "beta"]})
    rows = RowBatch()
    rows.tombstone("n/gone.md", DOCUMENT_ROW)
    rows.tombstone("n/gone.md", 0)
    rows.tombstone("n/gone.md", STEP)
    rows.tombstone("n/stays.md", STEP)
    commit(store, rows)
    kept = [("n/stays.md", 0)]
    gone = [("n/gone.md", 0), ("n/gone.md", STEP), ("n/stays.md", STEP)]
    for step in ("tombstones", "purged"):
        snapshot = store.snapshot()
        assert list(snapshot.documents()) == list(snapshot.stats()) == ["n/stays.md"], step
        assert list(snapshot.documents(["n/gone.md"])) == []
        assert list(snapshot.chunks(["n/gone.md", "n/stays.md"])) == ["n/stays.md"]
        assert list(snapshot.rows([*gone, *kept])) == kept
        assert snapshot.passages([*gone, *kept]).places == {kept[0]: Location(0, 1, 1)}
        assert (snapshot.document_count(), snapshot.chunk_count(), snapshot.pending()) == (1, 1, 0)
        hashes = [chunk(text).chunk_hash for text in ("alpha one", "alpha three", "beta")]
        assert list(snapshot.vectors(hashes)) == [hashes[1]]
        assert snapshot.unembedded(10) == []
        assert snapshot.to_arrow().num_rows == 2
        assert snapshot.to_arrow(["path"], where="path = 'n/gone.md'").num_rows == 0
        for found in (
            snapshot.keyword_candidates("alpha beta", ALL, 10),
            snapshot.substring_candidates("a", ALL, 10),
            snapshot.vector_candidates(vector_of("alpha one"), ALL, 10),
        ):
            assert [(c.path, c.chunk_index) for c in found] == kept
        with store.lock(1):
            report = store.maintain(keep_versions=timedelta(days=1))
        assert report.tombstones == (4 if step == "tombstones" else 0)


def test_vectors_are_filled_in_for_rows_that_are_there_and_nowhere_else(store: Store) -> None:
    put(store, {"n/a.md": ["alpha", "beta"]}, embed=False)
    before = store.snapshot().rows([("n/a.md", 0)])
    gone = RowBatch()
    gone.tombstone("n/a.md", STEP)
    commit(store, gone)
    keys = [("n/a.md", 0), ("n/a.md", STEP), ("n/never.md", 0)]
    with store.lock(1):
        store.set_vectors(keys, np.stack([vector_of("alpha"), unit(1), unit(2)]))
    snapshot = store.snapshot()
    assert snapshot.chunk_count() == 1
    assert snapshot.pending() == 0
    after = snapshot.rows(keys)
    assert after == {key: replace(row, embedded=True) for key, row in before.items()}
    found = snapshot.vectors([after["n/a.md", 0].chunk.chunk_hash])
    assert np.allclose(found[after["n/a.md", 0].chunk.chunk_hash], vector_of("alpha"))
    with store.lock(1):
        assert store.set_vectors([("n/never.md", 0)], np.stack([unit(1)])) == snapshot.version
        assert store.set_vectors([], np.zeros((0, DIM), np.float32)) == snapshot.version


def test_what_has_no_vector_is_given_newest_documents_first(store: Store) -> None:
    rows = RowBatch()
    for path, mtime_ns in (("n/old.md", 10), ("n/new.md", 30), ("n/mid.md", 20)):
        rows.document(state(path, mtime_ns=mtime_ns))
        for rank in (1, 0):
            rows.chunk(state(path), rank * STEP, chunk(f"{path}{rank}"), None, NOW, NOW)
    rows.chunk(state("n/new.md"), 2 * STEP, chunk("done"), unit(1), NOW, NOW)
    commit(store, rows)
    snapshot = store.snapshot()
    assert snapshot.pending() == 6
    first = [(row.path, row.chunk_index) for row in snapshot.unembedded(3)]
    assert first == [("n/new.md", 0), ("n/new.md", STEP), ("n/mid.md", 0)]
    assert len(snapshot.unembedded(100)) == 6
    assert snapshot.unembedded(0) == []


def test_texts_without_a_vector_are_of_one_version_though_the_table_is_replaced_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, {f"n/{n}.md": [f"text {n}"] for n in range(6)}, embed=False)
    put(store, {f"n/{n}.md": [f"done {n}"] for n in range(6, 12)})
    snapshot, take = store.snapshot(), OneVersion._take
    replaced: list[object] = []

    def take_from_another(self: OneVersion, *arguments: Any) -> pa.Table:
        if not replaced:
            other = Store.open(store.folder)
            with other.lock(1):
                kept = [other.snapshot().version]
                gone = ["n/0.md"]
                replaced.append(other.rewrite(kept, without=gone, counts={}, started=0))
            identity = self.identity
            self._table, self.identity = store.snapshot()._table, store.snapshot().identity
            assert self.identity != identity
        return take(self, *arguments)

    monkeypatch.setattr(OneVersion, "_take", take_from_another)
    assert {row.text for row in snapshot.unembedded(50)} == {f"text {n}" for n in range(1, 6)}


def test_rows_as_arrow_tell_of_the_model_that_their_vectors_are_of(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    with store.lock(1):
        store.change_model(PlannedChange("other", "other/1", 4, NOW), lambda hashes: {})
    snapshot = store.snapshot()
    metadata = snapshot.to_arrow(["path"]).schema.metadata
    assert metadata[b"lancebrain.model"] == b"other"
    assert metadata[b"lancebrain.dim"] == b"4"
    assert metadata == snapshot.to_arrow().schema.metadata


def test_rows_of_many_keys_are_found_as_those_of_few(store: Store) -> None:
    put(store, {f"n/{n}.md": ["one", "two"] for n in range(400)})
    snapshot = store.snapshot()
    keys = [(f"n/{n}.md", rank * STEP) for n in range(401) for rank in range(2)]
    many = snapshot.row_ids(keys)
    few = [snapshot.row_ids(keys[at : at + 100]) for at in range(0, len(keys), 100)]
    assert many == {key: row_id for some in few for key, row_id in some.items()}
    assert len(many) == 800


def test_texts_for_a_model_have_all_that_it_is_given_of_a_chunk(store: Store) -> None:
    rows = RowBatch()
    trails: list[tuple[str, ...]] = [(), ("A",), ("A", "B", "見出し"), ()]
    for number, trail in enumerate(trails):
        one = replace(chunk(f"text {number}"), heading_path=trail, table_header="|h|" * number)
        rows.chunk(state("n/a.md"), number * STEP, one, None, NOW, NOW)
    rows.document(state("n/a.md"))
    rows.chunk(state("n/no document.md"), 0, chunk("orphan"), None, NOW, NOW)
    commit(store, rows)
    found = store.snapshot().unembedded(10)
    assert [row.heading_path for row in found] == trails
    assert [row.table_header for row in found] == ["", "|h|", "|h||h|", "|h||h||h|"]
    assert {(row.path, row.kind, row.chunk_hash) for row in found} == {
        ("n/a.md", "md", chunk(f"text {number}").chunk_hash) for number in range(4)
    }
    assert {row.text for row in store.snapshot().sample(10)} == {row.text for row in found}


@pytest.mark.parametrize(
    "vector",
    [
        np.zeros(DIM + 1, np.float32),
        np.full(DIM, np.nan, np.float32),
        np.full(DIM, np.inf, np.float32),
    ],
)
def test_a_vector_that_cannot_be_one_is_refused_and_nothing_written(
    store: Store, vector: np.ndarray
) -> None:
    version = put(store, {"n/a.md": ["text"]})
    rows = RowBatch()
    rows.chunk(state("n/a.md"), 0, chunk("other"), vector, NOW, NOW)
    with pytest.raises(StoreError, match="vector"):
        commit(store, rows)
    assert store.snapshot().version == version


def test_only_the_holder_of_the_lock_writes(store: Store) -> None:
    with pytest.raises(UsageError, match="lock"):
        store.commit(batch({"n/a.md": ["x"]}), reason="sync", counts={}, started=time.monotonic())
    with pytest.raises(UsageError, match="lock"):
        store.maintain(keep_versions=timedelta(days=1))
    assert store.snapshot().document_count() == 0


def test_a_snapshot_stays_where_it_is(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    old = store.snapshot()
    put(store, {"n/a.md": ["beta"], "n/b.md": ["alpha"]})
    with store.lock(1):
        store.maintain(keep_versions=timedelta(days=1))
    new = store.snapshot()
    assert new.version > old.version
    for snapshot, texts in ((old, ["alpha"]), (new, ["alpha", "beta"])):
        assert sorted(snapshot.to_arrow(["text"])["text"].drop_null().to_pylist()) == texts
        found = snapshot.keyword_candidates("alpha beta", ALL, 5)
        assert sorted(c.text for c in found) == texts
        nearest = snapshot.vector_candidates(vector_of("alpha"), ALL, 5)
        assert sorted(c.text for c in nearest) == texts


def test_a_snapshot_is_the_same_one_while_nothing_changes(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    assert store.snapshot() is store.snapshot()


def test_another_handle_sees_each_commit_at_once(store: Store) -> None:
    other = Store.open(store.folder)
    for number in range(3):
        version = put(store, {f"n/{number}.md": ["text"]})
        assert other.snapshot().version == version == other.version
        assert other.snapshot().document_count() == number + 1


@pytest.mark.parametrize("commits", [1, 2])
def test_an_index_built_anew_in_its_place_is_followed(
    store: Store, tmp_path: Path, commits: int
) -> None:
    put(store, {"n/a.md": ["old words"]})
    seen = store.snapshot()
    (store.folder / "chunks.lance").rename(tmp_path / "away")
    with pytest.raises(IndexNotFoundError):
        store.snapshot()
    anew = Store.create(store.folder, model="other", fingerprint="f2", dim=DIM)
    for number in range(commits):
        put(anew, {f"n/new{number}.md": ["new words"]})
    paths = {f"n/new{number}.md" for number in range(commits)}
    assert store.snapshot().stats().keys() == paths
    assert store.info == anew.info
    assert seen.stats().keys() == paths
    assert seen.version == anew.snapshot().version
    assert [record.version for record in anew.commits.read()] == list(range(3, 3 + commits))


def test_another_schema_or_chunking_is_refused_with_the_way_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lancebrain.store.schema.SCHEMA_VERSION", 0)
    with pytest.raises(IndexMismatchError, match="Upgrade"):
        Store.open(store.folder)
    monkeypatch.undo()
    monkeypatch.setattr("lancebrain.store.opened.CHUNKING_VERSION", 10**6)
    with pytest.raises(IndexMismatchError, match="lancebrain sync --index"):
        Store.open(store.folder)


def test_ranks_and_lines_are_those_of_the_file(store: Store) -> None:
    texts = ["one\ntwo\n", "three\n", "four ", "still four\r\n\r\n", "six"]
    put(store, {"n/a.md": texts, "n/b.md": ["only"]})
    located = store.snapshot().passages([("n/a.md", rank * STEP) for rank in range(5)]).places
    assert [located["n/a.md", rank * STEP] for rank in range(5)] == [
        Location(0, 1, 2),
        Location(1, 3, 3),
        Location(2, 4, 4),
        Location(3, 4, 5),
        Location(4, 6, 6),
    ]
    assert store.snapshot().passages([("n/b.md", 0)]).places == {("n/b.md", 0): Location(0, 1, 1)}
    assert store.snapshot().passages([]).places == {}
    assert store.snapshot().passages([("n/x.md", 0)]).places == {}


def test_lines_of_a_log_are_those_that_its_turns_take(store: Store) -> None:
    rows = RowBatch()
    rows.document(state("n/log.jsonl", kind="claude"))
    for rank, (text, lines) in enumerate([("a\n\n", 1), ("b ", 0), ("c\n\n", 3), ("d", 1)]):
        turn = chunk(text, role="user", line_count=lines)
        rows.chunk(state("n/log.jsonl"), rank * STEP, turn, None, NOW, NOW)
    commit(store, rows)
    located = store.snapshot().passages([("n/log.jsonl", rank * STEP) for rank in range(4)]).places
    lines = [(place.line_start, place.line_end) for place in located.values()]
    assert sorted(lines) == [(1, 1), (2, 2), (2, 4), (5, 5)]


def test_a_document_of_many_chunks_is_located_quickly(store: Store) -> None:
    count = 20_000
    put(store, {"n/log.txt": [f"line {n}\n" for n in range(count)]}, embed=False)
    snapshot = store.snapshot()
    keys = [("n/log.txt", rank * STEP) for rank in (0, count // 2, count - 1)]
    started = time.perf_counter()
    located = snapshot.passages(keys).places
    seconds = time.perf_counter() - started
    assert [located[key] for key in keys] == [
        Location(rank, rank + 1, rank + 1) for rank in (0, count // 2, count - 1)
    ]
    assert seconds < 2  # 0.05 s on an idle machine
    assert len(snapshot.chunks(["n/log.txt"])["n/log.txt"]) == count


def test_many_keys_paths_and_hashes_can_be_asked_for_at_once(store: Store) -> None:
    paths = [f"n/{n:04}.md" for n in range(1_200)]
    put(store, {path: [f"text {path}"] for path in paths})
    snapshot = store.snapshot()
    assert len(snapshot.documents(paths)) == 1_200
    assert len(snapshot.stats(paths[:1_100])) == 1_100
    assert len(snapshot.chunks(paths)) == 1_200
    assert len(snapshot.rows([(path, 0) for path in paths])) == 1_200
    assert len(snapshot.passages([(path, 0) for path in paths]).places) == 1_200
    hashes = [chunk(f"text {path}").chunk_hash for path in paths]
    vectors = snapshot.vectors(hashes)
    assert np.allclose(vectors[hashes[7]], vector_of(f"text {paths[7]}"))
    assert len(vectors) == 1_200


def test_a_vector_that_was_damaged_is_not_reused(store: Store) -> None:
    rows = RowBatch()
    rows.chunk(state("n/a.md"), 0, chunk("short"), np.full(DIM, 0.01, np.float32), NOW, NOW)
    rows.chunk(state("n/a.md"), 1, chunk("whole"), unit(1), NOW, NOW)
    commit(store, rows)
    hashes = [chunk("short").chunk_hash, chunk("whole").chunk_hash]
    assert list(store.snapshot().vectors(hashes)) == [hashes[1]]


def test_each_commit_leaves_its_record(store: Store) -> None:
    started = time.monotonic()
    with store.lock(1):
        version = store.commit(
            batch({"n/a.md": ["x"]}),
            reason="sync",
            counts={"added": 1, "moved": 0},
            started=started,
        )
    put(store, {"n/b.md": ["y"]}, embed=False)
    with store.lock(1):
        store.set_vectors([("n/b.md", 0)], np.stack([unit(1)]))
        store.maintain(keep_versions=timedelta(days=1))
    records = store.commits.read()
    assert [r.reason for r in records] == ["sync", "sync", "backfill", "maintenance"]
    assert records[0].version == version
    assert records[0].counts == {"added": 1}
    assert records[2].counts == {"embedded": 1}
    assert all(r.seconds >= 0 and r.at.tzinfo is not None for r in records)
    assert [r.version for r in records] == sorted(r.version for r in records)


def test_the_size_is_that_of_all_files(store: Store) -> None:
    before = store.bytes()
    (store.folder / "more.bin").write_bytes(b"x" * 12_345)
    assert store.bytes() == before + 12_345
