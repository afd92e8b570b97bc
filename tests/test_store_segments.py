"""Indices follow the rows: in proportion to what came in, with few segments, and none worn out."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lancebrain.errors import StoreError
from lancebrain.store import Store, indices, maintenance
from lancebrain.store.segments import to_merge
from lancebrain.types import Filter
from tests.stored import make_store, put, vector_of

DAY = timedelta(days=1)
COLUMNS = ("text", "path", "chunk_index", "chunk_hash", "vector")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """3,000 documents, every index over all of them."""
    monkeypatch.setattr(indices, "_KEY_INDEX_ROWS", 1_000)
    monkeypatch.setattr(indices, "_VECTOR_INDEX_ROWS", 1_000)
    store = make_store(tmp_path)
    put(store, {f"n/{n}.md": [f"text {n} of {n % 7}"] for n in range(3_000)})
    with store.lock(1):
        store.maintain()
    return store


def outside(store: Store) -> dict[str, int]:
    """Rows outside each index, by its column."""
    with store._handles.probe() as table:
        found = indices.indices_of(table)
    return {column: index.num_unindexed_rows for column, index in found.items()}


def segments(store: Store) -> dict[str, int]:
    with store._handles.probe() as table:
        found = indices.indices_of(table)
    return {column: index.num_segments for column, index in found.items()}


def files(store: Store, folder: str) -> dict[Path, int]:
    there = (store.folder / "chunks.lance" / folder).rglob("*")
    return {file: file.stat().st_size for file in there if file.is_file()}


def maintained(store: Store) -> tuple[str, ...]:
    """Do what is due; the columns whose index was built anew."""
    with store.lock(1):
        return store.maintain(only_due=True).rebuilt


@example([1, 1, 1, 1, 69, 1, 1, 1, 1])
@given(st.lists(st.integers(1, 100), min_size=1, max_size=300))
def test_segments_stay_few_and_each_row_is_written_a_few_times(sizes: list[int]) -> None:
    there = [10_000]
    written = 0
    for new in sizes:
        count = to_merge(there, new)
        merged = new + sum(there[len(there) - count :])
        there = [*there[: len(there) - count], merged]
        written += merged
        assert len(there) <= 6
    assert sum(there) == 10_000 + sum(sizes)
    if there[0] == 10_000:
        assert written <= sum(sizes) * (3 + math.log2(sum(there) / 10_000 + len(sizes)) / 2)


def test_rows_are_taken_into_every_index_in_proportion_to_them(store: Store) -> None:
    assert outside(store) == dict.fromkeys(COLUMNS, 0)
    indexed, data = files(store, "_indices"), files(store, "data")
    put(store, {f"m/{n}.md": [f"more {n} of {n % 7}"] for n in range(150)})
    written = files(store, "data")
    assert outside(store) == dict.fromkeys(COLUMNS, 300)
    assert maintained(store) == ()
    assert outside(store) == dict.fromkeys(COLUMNS, 0)
    assert segments(store) == dict.fromkeys(COLUMNS, 2)
    assert files(store, "data") == written
    assert written.keys() >= data.keys()
    new = sum(files(store, "_indices").values()) - sum(indexed.values())
    assert 0 < new < sum(indexed.values()) / 4
    snapshot = store.snapshot()
    assert [
        c.path for c in snapshot.keyword_candidates("more", Filter(), 200) if c.path[0] != "m"
    ] == []
    assert len(snapshot.keyword_candidates("more", Filter(), 200)) == 150
    assert snapshot.keyword_candidates("77", Filter(), 9)[0].path in ("n/77.md", "m/77.md")
    for text, path in (("more 77 of 0", "m/77.md"), ("text 78 of 1", "n/78.md")):
        found = snapshot.vector_candidates(vector_of(text), Filter(), 3)
        assert (found[0].path, round(found[0].score, 3)) == (path, 1)


def test_an_index_in_segments_answers_as_one_that_was_built_anew(store: Store) -> None:
    for part in range(5):
        notes = {f"n/{n}.md": [f"text {n} of {n % 7} again {part}"] for n in range(part, 900, 3)}
        put(store, notes)
        assert maintained(store) == ()
    assert min(segments(store).values()) > 1

    def found_by_words() -> list[list[str]]:
        snapshot = store.snapshot()
        return [
            sorted(c.path for c in snapshot.keyword_candidates(query, Filter(), 4_000))
            for query in ("text", "again", "77", "of 3 again 4")
        ]

    def recall() -> float:
        snapshot = store.snapshot()
        found = 0
        for n in range(20):
            by_index, exact = (
                {c.path for c in snapshot.vector_candidates(query, Filter(), 10, exact=exact)}
                for query in (vector_of(f"query {n}"),)
                for exact in (False, True)
            )
            found += len(by_index & exact)
        return found / 200

    before, recall_before = found_by_words(), recall()
    with store.lock(1):
        store.rebuild_indices()
    assert segments(store) == dict.fromkeys(COLUMNS, 1)
    assert found_by_words() == before
    assert recall_before >= recall() - 0.05


def test_an_index_is_built_anew_when_much_of_it_is_of_rows_that_are_gone(store: Store) -> None:
    rebuilt = []
    for part in range(8):
        notes = {f"n/{n}.md": [f"text {n} of {part}"] for n in range(part, 3_000, 4)}
        put(store, notes)
        rebuilt += maintained(store)
        with store._handles.probe() as table:
            assert indices._gone_share(table) <= 1
    assert rebuilt.count("text") in range(1, 5)
    with store.lock(1):
        store.maintain(keep_versions=DAY)
    with store._handles.probe() as table:
        assert indices._gone_share(table) <= maintenance.THOROUGH.gone_share


def test_rows_that_wait_for_their_vector_keep_no_others_out_of_the_vector_index(
    store: Store,
) -> None:
    put(store, {f"m/{n}.md": [f"more {n}"] for n in range(400)}, embed=False)
    maintained(store)
    assert outside(store) == dict.fromkeys(COLUMNS, 0)
    put(store, {f"k/{n}.md": [f"other {n}"] for n in range(300)})
    maintained(store)
    assert outside(store) == dict.fromkeys(COLUMNS, 0)
    found = store.snapshot().vector_candidates(vector_of("other 7"), Filter(), 1)
    assert found[0].path == "k/7.md"


def test_vectors_of_whole_pieces_are_filled_in_where_the_rows_are(store: Store) -> None:
    put(store, {f"m/{n}.md": [f"more {n}"] for n in range(400)}, embed=False)
    maintained(store)
    keys = [(f"m/{n}.md", 0) for n in range(400)]
    before = store.snapshot().row_ids(keys)
    with store.lock(1):
        store.set_vectors(keys, np.stack([vector_of(f"more {n}") for n in range(400)]))
    snapshot = store.snapshot()
    assert snapshot.row_ids(keys) == before
    assert snapshot.pending() == 0
    found = outside(store)
    assert (found["text"], found["chunk_hash"]) == (0, 0)
    assert store.needs_maintenance()
    assert maintained(store) == ()
    assert outside(store) == dict.fromkeys(COLUMNS, 0)
    assert (
        store.snapshot().vector_candidates(vector_of("more 77"), Filter(), 1)[0].path == "m/77.md"
    )
    assert len(store.snapshot().keyword_candidates("more", Filter(), 500)) == 400


def test_a_few_vectors_do_not_have_those_of_all_their_neighbours_written_anew(
    store: Store,
) -> None:
    put(store, {f"m/{n}.md": [f"more {n}"] for n in range(2_000)}, embed=False)
    data = files(store, "data")
    keys = [(f"m/{n}.md", 0) for n in range(30)]
    with store.lock(1):
        store.set_vectors(keys, np.stack([vector_of(f"more {n}") for n in range(30)]))
    new = [size for file, size in files(store, "data").items() if file not in data]
    assert 0 < sum(new) < 2_000 * vector_of("").nbytes / 2
    assert store.snapshot().pending() == 1_970


def test_a_full_disk_is_no_reason_to_build_indices_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    put(store, {f"m/{n}.md": [f"more {n}"] for n in range(300)})
    monkeypatch.setattr("lancebrain.store.segments.add_rows", full)
    indexed = files(store, "_indices")
    with store.lock(1), pytest.raises(StoreError, match="No room left"):
        store.maintain(only_due=True)
    assert files(store, "_indices") == indexed


def test_a_vector_index_that_there_are_too_few_vectors_for_is_dropped_when_it_is_repaired(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indices, "_VECTOR_INDEX_ROWS", 10_000)
    with store.lock(1):
        store.rebuild_indices()
    assert outside(store).keys() == {*COLUMNS} - {"vector"}
    found = store.snapshot().vector_candidates(vector_of("text 7 of 0"), Filter(), 1)
    assert found[0].path == "n/7.md"


def test_an_index_whose_rows_were_all_written_in_place_is_maintained(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indices, "_PARTITION_ROWS", 60)
    keys = [(f"n/{n}.md", 0) for n in range(3_000)]
    vectors = np.stack([vector_of(f"other {n}") for n in range(3_000)])
    with store.lock(1):
        store.set_vectors(keys, vectors)
    maintained(store)
    assert outside(store) == dict.fromkeys(COLUMNS, 0)
    found = store.snapshot().vector_candidates(vector_of("other 77"), Filter(), 1)
    assert found[0].path == "n/77.md"
