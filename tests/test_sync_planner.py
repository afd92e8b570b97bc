"""The plan for one document: exact, frugal, and local."""

from __future__ import annotations

import hashlib
import random
import time
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.sync.alignment import align
from lancebrain.sync.planner import GAP, ChunkPlan, plan_chunks
from lancebrain.types import Chunk, StoredChunk

WHEN = datetime(2026, 1, 2, tzinfo=UTC)


def chunk(text: str, tag: str = "") -> Chunk:
    return Chunk(
        text=text,
        chunk_hash=hashlib.sha256(text.encode()).hexdigest(),
        heading_path=("A",),
        tags=(tag,) if tag else (),
        line_count=1,
    )


def chunks(texts: str) -> list[Chunk]:
    return [chunk(text) for text in texts]


def stored(index: int, a: Chunk) -> StoredChunk:
    return StoredChunk("n/a.md", index, a, embedded=True, created_at=WHEN, updated_at=WHEN)


def applied(rows: list[StoredChunk], plan: ChunkPlan) -> list[StoredChunk]:
    """What the table holds after the plan, in the order it would be read."""
    table = {row.chunk_index: row for row in rows}
    for number in plan.removed:
        del table[number]
    for write in plan.writes:
        table[write.chunk_index] = stored(write.chunk_index, write.chunk)
    return [table[number] for number in sorted(table)]


def first_rows(texts: str) -> list[StoredChunk]:
    return applied([], plan_chunks([], chunks(texts)))


def longest_common(a: str, b: str) -> int:
    lengths = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b):
            kept = lengths[j + 1]
            lengths[j + 1] = before + 1 if x == y else max(lengths[j], kept)
            before = kept
    return lengths[-1]


texts = st.text(alphabet="abcdefghij", max_size=14)


def test_a_new_document_is_numbered_in_steps_of_the_gap() -> None:
    plan = plan_chunks([], chunks("abc"))
    assert [w.chunk_index for w in plan.writes] == [GAP, 2 * GAP, 3 * GAP]
    assert plan.kept == 0
    assert plan.removed == ()


def test_an_unchanged_document_needs_nothing() -> None:
    plan = plan_chunks(first_rows("abcd"), chunks("abcd"))
    assert plan.writes == ()
    assert plan.removed == ()
    assert plan.kept == 4


def test_a_replaced_chunk_keeps_its_number_and_its_origin() -> None:
    rows = first_rows("abc")
    plan = plan_chunks(rows, chunks("aXc"))
    assert [(w.chunk_index, w.chunk.text, w.origin) for w in plan.writes] == [
        (2 * GAP, "X", rows[1])
    ]
    assert plan.removed == ()
    assert plan.dropped_hashes == {rows[1].chunk.chunk_hash}


def test_an_inserted_chunk_takes_a_number_between_its_neighbours() -> None:
    for before, after in (("ab", "Xab"), ("ab", "aXb"), ("ab", "abX")):
        rows = first_rows(before)
        plan = plan_chunks(rows, chunks(after))
        assert [w.chunk.text for w in plan.writes] == ["X"]
        assert plan.removed == ()
        assert "".join(r.chunk.text for r in applied(rows, plan)) == after


def test_a_removed_chunk_gives_up_its_number_alone() -> None:
    plan = plan_chunks(first_rows("abc"), chunks("ac"))
    assert plan.writes == ()
    assert plan.removed == (2 * GAP,)


def test_a_row_is_rewritten_when_only_its_tags_changed_and_continues_the_same_text() -> None:
    rows = first_rows("abc")
    new = [chunk("a"), chunk("b", "todo"), chunk("c")]
    plan = plan_chunks(rows, new)
    assert [(w.chunk_index, w.origin) for w in plan.writes] == [(2 * GAP, rows[1])]
    assert plan.dropped_hashes == frozenset()


def test_a_chunk_that_changed_only_its_tags_is_told_from_one_inserted_before_it() -> None:
    rows = first_rows("abc")
    plan = plan_chunks(rows, [chunk("a"), chunk("X"), chunk("b", "todo"), chunk("c")])
    origins = {w.chunk.text: w.origin for w in plan.writes}
    assert origins == {"X": None, "b": rows[1]}


@given(texts, texts)
def test_a_plan_applied_to_the_stored_rows_gives_the_new_chunks(before: str, after: str) -> None:
    rows = first_rows(before)
    plan = plan_chunks(rows, chunks(after))
    table = applied(rows, plan)
    assert [row.chunk for row in table] == chunks(after)
    written = {write.chunk_index for write in plan.writes}
    assert written.isdisjoint(plan.removed)
    assert plan.kept + len(plan.writes) == len(after)
    kept = [row for row in table if row.chunk_index not in written]
    assert all(row in rows for row in kept)
    assert plan.dropped_hashes == {chunk(t).chunk_hash for t in set(before) - set(after)}


@given(texts, texts)
def test_no_row_of_a_longest_common_subsequence_is_written(before: str, after: str) -> None:
    plan = plan_chunks(first_rows(before), chunks(after))
    assert plan.kept == longest_common(before, after)


@given(st.lists(texts, min_size=2, max_size=8))
def test_a_history_of_edits_keeps_the_order_right(history: list[str]) -> None:
    rows: list[StoredChunk] = []
    for text in history:
        plan = plan_chunks(rows, chunks(text))
        rows = applied(rows, plan)
        assert [row.chunk for row in rows] == chunks(text)


@pytest.mark.parametrize("place", [0, 1, 5, 8])
def test_insertions_at_one_place_find_room_for_ever_and_move_few_neighbours(place: int) -> None:
    rows = first_rows("abcdefgh")
    extra = 0
    for number in range(120):
        new = [row.chunk for row in rows]
        new.insert(place, chunk(f"new {number}"))
        plan = plan_chunks(rows, new)
        extra += len(plan.writes) - 1
        rows = applied(rows, plan)
        assert [row.chunk for row in rows] == new
    assert extra <= 4 * 120  # no more than a few rows an insertion, and no vector among them


def test_many_chunks_inserted_where_one_number_is_left_renumber_the_smallest_stretch() -> None:
    low, high = [stored(n * GAP, chunk(f"low {n}")) for n in range(1, 50)], 50 * GAP
    tight = [stored(high, chunk("p")), stored(high + 2, chunk("q"))]
    rest = [stored((50 + n) * GAP, chunk(f"high {n}")) for n in range(1, 50)]
    rows = [*low, *tight, *rest]
    new = [row.chunk for row in rows]
    new[50:50] = chunks("XYZ")
    plan = plan_chunks(rows, new)
    assert [w.chunk.text for w in plan.writes] == ["p", "X", "Y", "Z", "q"]
    assert [row.chunk for row in applied(rows, plan)] == new


@given(st.text(alphabet="ab", max_size=40), st.text(alphabet="abc", max_size=40))
def test_alignment_of_items_that_repeat_pairs_equal_items_in_order(old: str, new: str) -> None:
    pairs = align(old, new)
    assert all(old[i] == new[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert 2 * len(pairs) >= longest_common(old, new)


def test_scattered_edits_among_repeating_chunks_stay_scattered() -> None:
    rows = [f"unique {n // 2}" if n % 2 else "rule" for n in range(4000)]
    new = list(rows)
    for place in (3500, 2001, 40):
        new.insert(place, f"inserted {place}")
    del new[1000]
    assert len(align(rows, new)) == len(rows) - 1


def test_a_document_of_sixty_thousand_chunks_is_planned_in_about_a_second() -> None:
    source = random.Random(7)
    rows = [stored((n + 1) * GAP, chunk(f"line {n % 50_000}")) for n in range(60_000)]
    new = [row.chunk for row in rows]
    for number in range(300):
        new[source.randrange(len(new))] = chunk(f"edited {number}")
    started = time.perf_counter()
    plan = plan_chunks(rows, new)
    seconds = time.perf_counter() - started
    assert 290 <= len(plan.writes) <= 300
    assert seconds < 5
