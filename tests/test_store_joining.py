"""Pieces of a table: which are joined, that large ones stay, and that nothing needed is deleted."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.errors import StoreError
from lancebrain.store import Store, joining, segments
from lancebrain.store.garbage import collect
from lancebrain.store.joining import Piece, full_to_join, pieces_of, to_join
from lancebrain.store.maintenance import AT_REST
from lancebrain.types import Filter
from tests.stored import make_store, put, unit

LATER = datetime.now(UTC) + timedelta(days=30)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """1,000 documents in one piece."""
    store = make_store(tmp_path)
    put(store, {f"n/{n}.md": [f"text {n}"] for n in range(1_000)})
    with store.lock(1):
        store.maintain()
    return store


def data_files(store: Store) -> set[str]:
    return {file.name for file in (store.folder / "chunks.lance" / "data").iterdir()}


def texts(store: Store, version: int | None = None) -> dict[str, str]:
    snapshot = store.snapshot(version)
    by_path = snapshot.chunks(list(snapshot.stats()))
    return {path: row.chunk.text for path, (row,) in by_path.items()}


def joined(pieces: list[Piece], *, tiny: int = 20, alike: int = 4) -> list[Piece]:
    chosen = to_join(pieces, tiny=tiny, alike=alike)
    left = [piece for piece in pieces if piece not in chosen]
    if not chosen:
        return left
    rows = sum(piece.rows for piece in chosen)
    return [*left, Piece(max(piece.number for piece in pieces) + 1, rows, rows)]


@given(st.lists(st.integers(1, 200), min_size=1, max_size=300))
def test_pieces_stay_few_and_each_row_is_written_a_few_times(sizes: list[int]) -> None:
    pieces = [Piece(0, 100_000, 100_000)]
    written = 0
    for number, rows in enumerate(sizes, 1):
        pieces.append(Piece(number * 2, rows, rows))
        if chosen := to_join(pieces, tiny=20, alike=4):
            written += sum(piece.rows for piece in chosen)
        pieces = joined(pieces)
        assert to_join(pieces, tiny=20, alike=4) == []
    assert len(pieces) <= 20 + 4 * 5
    assert sum(piece.rows for piece in pieces) == 100_000 + sum(sizes)
    assert written <= sum(sizes) * math.log(100_000, 8)


def test_a_piece_is_written_anew_when_most_of_it_is_gone() -> None:
    half, more = Piece(1, 15_000, 20_000), Piece(2, 9_000, 20_000)
    assert to_join([half, more], tiny=20, alike=4) == [more]


def test_small_pieces_are_joined_and_the_large_one_stays(store: Store) -> None:
    before = data_files(store)
    rows = texts(store)
    for number in range(21):
        put(store, {f"n/{number}.md": [f"new {number}"]})
        rows[f"n/{number}.md"] = f"new {number}"
    with store.lock(1):
        report = store.maintain(only_due=True)
    assert (report.fragments_before, report.fragments_after) == (22, 2)
    assert before <= data_files(store)
    assert texts(store) == rows
    assert len(store.snapshot().keyword_candidates("new", Filter(), 50)) == 21
    with store._handles.probe() as table:
        assert [piece.rows for piece in pieces_of(table)] == [1_958, 42]


def test_what_any_version_needs_is_never_deleted_and_the_rest_is(store: Store) -> None:
    draw = random.Random(5)
    kept: dict[int, dict[str, str]] = {}
    made: set[int] = set()
    rows = texts(store)
    for number in range(60):
        path = f"n/{draw.randrange(1_000)}.md"
        version = put(store, {path: [f"edit {number}"]})
        rows[path] = f"edit {number}"
        made.add(version)
        if number % 12 == 5:
            with store.lock(1):
                store.create_tag(f"tag{number}", version)
            kept[version] = dict(rows)
        if number % 25 == 24:
            with store.lock(1):
                store.maintain(only_due=True, now=LATER)
    garbage = store.folder / "chunks.lance" / "data" / f"{'0' * 40}.lance"
    garbage.write_bytes(b"left by a killed writer")
    with store.lock(1):
        report = store.maintain(now=LATER)
    assert report.versions_removed
    assert not garbage.exists()
    assert made.intersection(store.versions()) == {*kept, max(made)}  # replaced just now
    opened = Store.open(store.folder)
    assert texts(opened) == rows
    for version, wanted in kept.items():
        assert texts(opened, version) == wanted
        hits = opened.snapshot(version).keyword_candidates("edit", Filter(), 100)
        assert {hit.text for hit in hits} == {t for t in wanted.values() if t[:4] == "edit"}


def test_twenty_checkpoints_are_not_twenty_copies(store: Store) -> None:
    size = store.bytes()
    for number in range(100):
        version = put(store, {f"n/{number}.md": [f"edit {number}"]})
        if number % 5 == 4:
            with store.lock(1):
                store.create_tag(f"tag{number}", version)
        if number % 21 == 20:
            with store.lock(1):
                store.maintain(only_due=True)
    with store.lock(1):
        store.maintain(only_due=True, now=LATER)
    assert set(store.versions()) == {*store.tags().values(), store.snapshot().version}
    assert len(store.tags()) == 20
    assert store.bytes() < 5 * size  # a tiny table, so that files have more frame than content


def test_manifests_that_are_not_understood_delete_nothing(store: Store) -> None:
    table = store.folder / "chunks.lance"
    before = sorted(table.rglob("*"))
    with pytest.raises(StoreError, match="nothing is deleted"):
        collect(table, fragments=2)
    assert sorted(table.rglob("*")) == before


def test_rows_that_share_a_key_do_not_keep_the_others_from_being_joined(store: Store) -> None:
    snapshot = store.snapshot()
    rows = snapshot.whole_rows(snapshot.row_ids([("n/1.md", 0)]).values())
    with store.lock(1), store._handles.writer.durably() as table:
        table.add(rows)
    for number in range(21):
        put(store, {f"m/{number}.md": [f"new {number}"]})
    with store.lock(1):
        assert store.maintain(only_due=True).fragments_after <= 3
    assert store.snapshot().document_count() == 1_021


def test_pieces_that_joining_cannot_make_larger_are_left_alone() -> None:
    full = [Piece(number, 4_000, 4_000) for number in range(60)]
    small = [Piece(100 + number, 1_000, 1_000) for number in range(6)]
    assert to_join(full, tiny=20, alike=4) == []
    assert to_join([*full, *small], tiny=20, alike=4) == small


def test_full_pieces_that_lost_some_rows_to_edits_are_left_alone_until_much_of_them_is_gone() -> (
    None
):
    edited = [Piece(number, 3_999 - number, 4_000) for number in range(30)]
    assert to_join(edited, tiny=20, alike=4) == []
    half = [Piece(100 + number, 2_000, 4_000) for number in range(5)]
    assert to_join([*edited, *half], tiny=20, alike=4) == half


def test_pieces_of_single_edits_are_joined_between_two_of_them(store: Store) -> None:
    for number in range(12):
        put(store, {f"n/{number}.md": [f"edited {number}"]})
    before, texts_before = store.snapshot().version, texts(store)
    with store.lock(1):
        store.join_tiny()
        assert store.snapshot().version == before + 1
        store.join_tiny()  # then there is nothing to join
    assert store.snapshot().version == before + 1
    with store._handles.probe() as table:
        assert sorted(piece.rows for piece in pieces_of(table))[0] == 24
        assert len(pieces_of(table)) == 2
    assert texts(store) == texts_before
    assert store.commits.read()[-1].reason == "maintenance"


def test_what_a_write_that_was_killed_left_is_deleted(store: Store) -> None:
    table = store.folder / "chunks.lance"
    left = [table / folder / ".tmpCGbCYa" for folder in ("_deletions", "_versions", "data")]
    for file in left:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"half")
    with store.lock(1):
        store.maintain()
    assert not any(file.exists() for file in left)
    assert len(texts(store)) == 1_000


@given(st.lists(st.integers(3_000, 6_000), min_size=1, max_size=200))
def test_full_pieces_become_few_and_each_row_is_written_a_few_times(sizes: list[int]) -> None:
    pieces: list[Piece] = []
    written = 0
    for number, rows in enumerate(sizes, 1):
        pieces.append(Piece(number * 2, rows, rows))
        if chosen := full_to_join(pieces, alike=4):
            written += sum(piece.rows for piece in chosen)
            left = [piece for piece in pieces if piece not in chosen]
            total = sum(piece.rows for piece in chosen)
            pieces = [*left, Piece(number * 2 + 1, total, total)]
        assert full_to_join(pieces, alike=4) == []
    assert len([piece for piece in pieces if piece.written < 32_768]) <= 2 * 4
    assert sum(piece.rows for piece in pieces) == sum(sizes)
    assert written <= 2 * sum(sizes)


def test_full_pieces_wait_for_their_vectors_before_they_are_joined() -> None:
    waiting = [Piece(number, 4_000, 4_000, lacking=100) for number in range(20)]
    ready = [Piece(100 + number, 4_000, 4_000) for number in range(5)]
    assert full_to_join(waiting, alike=4) == []
    assert full_to_join([*waiting, *ready], alike=4) == ready


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are full with 60 rows and as large as they get with 400."""
    monkeypatch.setattr(joining, "_LARGE_ROWS", 60)
    monkeypatch.setattr(joining, "_LARGEST_ROWS", 400)


@pytest.mark.usefixtures("small_pieces")
def test_full_pieces_are_joined_and_every_version_finds_what_it_found(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    versions = {}
    for block in range(8):
        paths = [f"n/{block}-{n}.md" for n in range(40)]
        rows = {path: [f"common word{n} block{block}"] for n, path in enumerate(paths)}
        versions[put(store, rows)] = 40 * (block + 1)
    put(store, {"n/0-3.md": ["edited away"]})
    with store.lock(1):
        store.create_tag("before", store.snapshot().version)
        store.ensure_indices()
    before = found(store)
    with store.lock(1):
        assert store.needs_maintenance()
        store.maintain(only_due=True)
    with store._handles.probe() as table:
        sizes = sorted(piece.rows for piece in pieces_of(table))
    assert len(sizes) <= 2
    assert sizes[-1] >= 400
    assert found(store) == before
    assert store.snapshot(store.tags()["before"]).chunk_count() == 320
    for version, count in versions.items():
        assert store.snapshot(version).chunk_count() == count
    put(store, {"n/7-1.md": ["written after"]})
    assert [c.path for c in store.snapshot().keyword_candidates("after", Filter(), 5)] == [
        "n/7-1.md"
    ]
    with store.lock(1):
        assert not store.needs_maintenance()


@pytest.mark.usefixtures("small_pieces")
def test_full_pieces_whose_rows_lack_vectors_stay(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for block in range(8):
        put(store, {f"n/{block}-{n}.md": ["text"] for n in range(40)}, embed=False)
    with store.lock(1):
        store.maintain(only_due=True)
    with store._handles.probe() as table:
        assert len(pieces_of(table)) == 8


def found(store: Store) -> list[object]:
    """What is found by words, by vector, by key, and that nothing is there twice."""
    snapshot = store.snapshot()
    words = snapshot.keyword_candidates("common word7 block3", Filter(), 400)
    nearest = snapshot.vector_candidates(unit(1.0, 0.5), Filter(), 400, exact=True)
    keys = [(path, 0) for path in ("n/0-3.md", "n/5-9.md", "n/7-39.md")]
    return [
        sorted((round(one.score, 4), one.path) for one in words),
        sorted((round(one.score, 4), one.path) for one in nearest),
        snapshot.passages(keys),
        texts(store),
        snapshot.chunk_count(),
    ]


@pytest.mark.usefixtures("small_pieces")
def test_pieces_that_lie_in_different_segments_are_not_due_for_ever(tmp_path: Path) -> None:
    store, few = make_store(tmp_path), replace(AT_REST, like_pieces=2)
    for block in range(4):
        put(store, {f"n/{block}-{n}.md": [f"word{n}"] for n in range(40)})
        with store.lock(1), store._maintaining("adding a segment") as table:
            segments.add_rows(table, ["text_idx"])
    version = store.snapshot().version
    with store._handles.probe() as table:
        assert len(full_to_join(pieces_of(table), alike=2)) == 4
    assert not store.needs_maintenance(tolerance=few)
    with store.lock(1):
        store.maintain(only_due=True, tolerance=few)
    assert store.snapshot().version == version
    assert len(store.snapshot().keyword_candidates("word7", Filter(), 50)) == 4
