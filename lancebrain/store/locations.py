"""Where a chunk is in its document: rank and lines, computed from its neighbours on reading.

They are not stored, so that an edit at the top of a document touches no row below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lancebrain.types import StoredChunk

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
    lines: pa.Table, wanted: Mapping[tuple[str, int], StoredChunk]
) -> dict[tuple[str, int], Location]:
    """The places of the wanted chunks.

    Args:
        lines: path, chunk_index and line_count of every chunk of their documents.
    """
    ordered = lines.sort_by([("path", "ascending"), ("chunk_index", "ascending")])
    paths = ordered["path"].combine_chunks().dictionary_encode()
    codes = paths.indices.to_numpy()
    indexes = ordered["chunk_index"].to_numpy()
    counts = ordered["line_count"].to_numpy().astype(np.int64)
    before = np.concatenate(([0], np.cumsum(counts)))
    ends = np.flatnonzero(np.diff(codes, append=-1)) + 1
    starts = np.concatenate(([0], ends[:-1]))
    span_of = dict(zip(paths.dictionary.to_pylist(), zip(starts, ends, strict=True), strict=True))
    places: dict[tuple[str, int], Location] = {}
    for key, stored in wanted.items():
        start, end = span_of[key[0]]
        at = start + int(np.searchsorted(indexes[start:end], key[1]))
        line_start = int(before[at] - before[start]) + 1
        line_end = line_start + stored.chunk.line_count - _ends_its_last_line(stored)
        places[key] = Location(int(at - start), line_start, max(line_start, line_end))
    return places


def _ends_its_last_line(stored: StoredChunk) -> bool:
    """Whether the line after those counted is not this chunk's any more.

    A turn of a session log has lines of its own in the file, which its text does not show.
    """
    return stored.chunk.role is not None or stored.chunk.text.endswith(_LINE_ENDS)
