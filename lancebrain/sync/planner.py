"""Stored chunks and new chunks of one document → the rows to write and to remove.

Pure; the engine calls it with what it read from the table and from the disk. Rows are compared
whole (text, hash, headings, tags, role, time, lines), and those that live on as they are keep
their number and are not written.

Numbers (``chunk_index``) are multiples of 2^20 at first, so that there is room between them:

- A new chunk that stands where an old one went takes the old one's number.
- Any other takes a number between its neighbours, in even steps; at the end, 2^20 further.
- Where no numbers are left, the stretch is widened by one row on either side, and again, until
  its rows can stand 2^15 apart; these few rows move to new numbers, all others stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lancebrain.types import Chunk, StoredChunk

from .alignment import Pair, align, stretches

GAP = 1 << 20
"""Distance between the numbers of neighbours where nothing was inserted yet."""
MIN_GAP = 1 << 15
"""Distance that a renumbered stretch must allow, so that the next insertions find room."""
_BEFORE_FIRST = -1


@dataclass(frozen=True, slots=True)
class Write:
    """A row to insert or replace.

    Attributes:
        origin: the stored row that it continues, with the same text or in the same place; None
            for a chunk that is new.
    """

    chunk_index: int
    chunk: Chunk
    origin: StoredChunk | None


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """What to do with the chunk rows of one document; applied, they are the new chunks in order.

    Attributes:
        kept: rows that stay as they are.
        writes: rows to insert or replace, in order.
        removed: numbers that no row has any more.
        dropped_hashes: of chunks that were stored and are neither kept nor written again.
    """

    kept: int
    writes: tuple[Write, ...]
    removed: tuple[int, ...]
    dropped_hashes: frozenset[str]


NOTHING = ChunkPlan(kept=0, writes=(), removed=(), dropped_hashes=frozenset())
"""The plan of a document whose chunks are not touched."""


def plan_chunks(
    stored: Sequence[StoredChunk], new: Sequence[Chunk], *, rewrite: bool = False
) -> ChunkPlan:
    """Compare a document's rows with its chunks on disk.

    Args:
        stored: the rows of one document by ascending ``chunk_index``; empty for a new document.
        new: the chunks of the same document as it is now.
        rewrite: keep no row: what all rows of the document share has changed.
    """
    origins = _origins(stored, new)
    numbers = _numbers([None if origin is None else origin.chunk_index for origin in origins])
    by_number = {row.chunk_index: row for row in stored}
    writes = tuple(
        Write(number, chunk, origin)
        for number, chunk, origin in zip(numbers, new, origins, strict=True)
        if rewrite or (row := by_number.get(number)) is None or row.chunk != chunk
    )
    used = set(numbers)
    return ChunkPlan(
        kept=len(new) - len(writes),
        writes=writes,
        removed=tuple(number for number in by_number if number not in used),
        dropped_hashes=frozenset({row.chunk.chunk_hash for row in stored})
        - {chunk.chunk_hash for chunk in new},
    )


def _origins(stored: Sequence[StoredChunk], new: Sequence[Chunk]) -> list[StoredChunk | None]:
    """For each new chunk the stored row that it continues, in ascending order."""
    rows = [row.chunk for row in stored]
    origins: list[StoredChunk | None] = [None] * len(new)
    pairs = align(rows, new)
    for i, j in pairs:
        origins[j] = stored[i]
    for old_span, new_span in stretches(pairs, (0, len(rows)), (0, len(new))):
        for i, j in _continued(rows, old_span, new, new_span):
            origins[j] = stored[i]
    return origins


def _continued(
    rows: Sequence[Chunk],
    old_span: Pair,
    new: Sequence[Chunk],
    new_span: Pair,
) -> list[Pair]:
    """Pairs within a stretch where no row is equal: by text first, then by place."""
    old_texts = [rows[i].text for i in range(*old_span)]
    new_texts = [new[j].text for j in range(*new_span)]
    same_text = [(i + old_span[0], j + new_span[0]) for i, j in align(old_texts, new_texts)]
    pairs = list(same_text)
    for old_part, new_part in stretches(same_text, old_span, new_span):
        pairs.extend(zip(range(*old_part), range(*new_part), strict=False))
    return pairs


def _numbers(fixed: Sequence[int | None]) -> list[int]:
    """A number for each place, ascending; those given stay wherever there is room."""
    numbers = list(fixed)
    start = 0
    while start < len(numbers):
        if numbers[start] is not None:
            start += 1
            continue
        end = _end_of_open(numbers, start)
        start, end = _with_room(numbers, start, end)
        _fill(numbers, start, end)
        start = end
    return [number for number in numbers if number is not None]


def _with_room(numbers: Sequence[int | None], start: int, end: int) -> Pair:
    """The stretch from ``start`` to ``end``, widened until there are numbers enough for it."""
    step = 1
    while True:
        below, above = _bounds(numbers, start, end)
        if above is None or above - below >= (end - start + 1) * step:
            return start, end
        step = MIN_GAP
        start = max(start - 1, 0)
        end = _end_of_open(numbers, end + 1)


def _end_of_open(numbers: Sequence[int | None], end: int) -> int:
    """``end``, moved over the places from there that have no number yet."""
    while end < len(numbers) and numbers[end] is None:
        end += 1
    return min(end, len(numbers))


def _bounds(numbers: Sequence[int | None], start: int, end: int) -> tuple[int, int | None]:
    """The numbers around a stretch: below it, and above it or None at the document's end."""
    below = numbers[start - 1] if start else None
    return (
        _BEFORE_FIRST if below is None else below,
        numbers[end] if end < len(numbers) else None,
    )


def _fill(numbers: list[int | None], start: int, end: int) -> None:
    below, above = _bounds(numbers, start, end)
    count = end - start
    for place in range(count):
        if above is None:
            numbers[start + place] = max(below, 0) + GAP * (place + 1)
        else:
            numbers[start + place] = below + (above - below) * (place + 1) // (count + 1)
