"""Where a chunk is in its document: rank and lines, computed from its neighbours on reading.

They are not stored, so that an edit at the top of a document touches no row below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.types import StoredChunk

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LINE_ENDS = ("\n", "\r")


@dataclass(frozen=True, slots=True)
class Location:
    """A chunk's place.

    Attributes:
        rank: 0-based, among the document's chunks.
        line_start, line_end: 1-based, inclusive, lines of the file.
    """

    rank: int
    line_start: int
    line_end: int


def locate(
    lines: pa.Table, wanted: Iterable[tuple[tuple[str, int], str, int, str | None]]
) -> dict[tuple[str, int], Location]:
    """The places of the wanted chunks.

    Args:
        lines: path, chunk_index and line_count of every chunk of their documents.
        wanted: key, text, line_count and role of some of these.
    """
    ordered = lines.sort_by([("path", "ascending"), ("chunk_index", "ascending")])
    paths = ordered["path"].combine_chunks().dictionary_encode()
    indexes = ordered["chunk_index"].to_numpy()
    before = np.concatenate(([0], np.cumsum(ordered["line_count"].to_numpy(), dtype=np.int64)))
    bounds = np.flatnonzero(np.diff(paths.indices.to_numpy(), prepend=-1, append=-1))
    spans = pairwise(bounds)
    span_of = dict(zip(paths.dictionary.to_pylist(), spans, strict=True))
    places: dict[tuple[str, int], Location] = {}
    for (path, chunk_index), text, line_count, role in wanted:
        start, end = span_of[path]
        rank = int(np.searchsorted(indexes[start:end], chunk_index))
        first_line = int(before[start + rank] - before[start]) + 1
        places[path, chunk_index] = _location(rank, first_line, line_count, text, role)
    return places


def locate_all(chunks: Sequence[StoredChunk]) -> list[Location]:
    """The places of all the chunks of one document, which are given in their order."""
    places: list[Location] = []
    first_line = 1
    for rank, stored in enumerate(chunks):
        chunk = stored.chunk
        places.append(_location(rank, first_line, chunk.line_count, chunk.text, chunk.role))
        first_line += chunk.line_count
    return places


def ranks_and_first_lines(rows: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of every chunk at once, as :func:`locate` does it for some.

    Args:
        rows: path and line_count of every chunk of their documents, in order.
    """
    codes = rows["path"].combine_chunks().dictionary_encode().indices.to_numpy()
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    lengths = np.diff(starts, append=len(codes))
    lines = rows["line_count"].to_numpy().astype(np.int64)
    before = np.cumsum(lines) - lines
    ranks = np.arange(len(codes)) - np.repeat(starts, lengths)
    return ranks, before - np.repeat(before[starts], lengths) + 1


def last_lines(rows: pa.Table, first_lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """The last line of each chunk.

    Args:
        rows: text, line_count and role of chunks.
        first_lines: of these.
    """
    text = rows["text"]
    ends = pc.or_(*(pc.ends_with(text, end) for end in _LINE_ENDS))
    reaches_on = pc.and_not(pc.is_null(rows["role"]), ends).to_numpy()
    last: NDArray[np.int64] = first_lines + rows["line_count"].to_numpy() - ~reaches_on
    return np.maximum(first_lines, last)


def _location(rank: int, first_line: int, line_count: int, text: str, role: str | None) -> Location:
    # The line after the last one counted is this chunk's too, unless the chunk ends with a
    # line end. The lines of a turn in a session log are those of its file: none follows.
    reaches_on = role is None and not text.endswith(_LINE_ENDS)
    line_end = first_line + line_count - (0 if reaches_on else 1)
    return Location(rank, first_line, max(first_line, line_end))
