"""Pieces → where to cut: content-defined, so that an edit moves no cut but those beside it.

From a cut, the next one is the best-ranked place that makes a chunk neither too narrow nor too
wide. Ranks come from the content alone, so after an edit the cuts soon fall where they fell
before: two sequences of cuts that differ look for their next cut among mostly the same places,
and once they agree they agree for good. (Content-defined chunking, as in Muthitacharoen, Chen,
Mazières, "A Low-bandwidth Network File System", SOSP 2001, with a minimum instead of a mask.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lancebrain.chunking.pieces import FINEST, Bond, Piece, finer

MOST_WIDTH = 1200
LEAST_WIDTH = 240


def cuts(text: str, pieces: Iterable[Piece]) -> Iterator[int]:
    """The ends of the chunks that ``pieces`` are packed into, ascending.

    No chunk is wider than ``MOST_WIDTH``, save for the white space at its end. None is narrower
    than ``LEAST_WIDTH``, save where a piece cannot be taken apart.

    Args:
        text: what the pieces are spans of.
        pieces: adjoining; read only as far ahead as two chunks.
    """
    coming = [iter(pieces)]
    held: list[Piece] = []
    width = 0
    while True:
        while coming and width <= MOST_WIDTH + LEAST_WIDTH:
            piece = next(coming[-1], None)
            if piece is None:
                coming.pop()
            else:
                held.append(piece)
                width += piece.width
        if width <= MOST_WIDTH:
            if held:
                yield held[-1].end
            return
        count = _best_count(held, width)
        if count is None:
            index = _piece_at(held, min(MOST_WIDTH, width - LEAST_WIDTH))
            if held[index].step < FINEST:
                coming.append(iter(held[index + 1 :]))
                coming.append(finer(text, held[index]))
                width -= sum(piece.width for piece in held[index:])
                del held[index:]
                continue
            count = max(1, index)
        yield held[count - 1].end
        width -= sum(piece.width for piece in held[:count])
        del held[:count]


def _best_count(held: list[Piece], width: int) -> int | None:
    """How many of the pieces make the next chunk; None if no place is in reach."""
    best: int | None = None
    best_rank = (Bond.GLUE << 32) - 1
    most = min(MOST_WIDTH, width - LEAST_WIDTH)
    position = 0
    for count, piece in enumerate(held):
        if position > most:
            break
        if position >= LEAST_WIDTH and piece.rank <= best_rank:
            best, best_rank = count, piece.rank
        position += piece.width
    return best


def _piece_at(held: list[Piece], column: int) -> int:
    """The index of the piece that spans a column."""
    position = 0
    for index, piece in enumerate(held):
        position += piece.width
        if position >= column:
            return index
    return len(held) - 1
