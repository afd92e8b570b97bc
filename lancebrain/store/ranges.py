"""Ranges of document paths, so that what reads a whole table holds a bounded part of it."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from . import filters


def path_ranges(paths: pa.ChunkedArray, *, rows: int) -> Iterator[str]:
    """SQL for one range of paths after the other, which together hold every row.

    Args:
        paths: of all rows.
        rows: that a range holds at most, or those of one document.
    """
    counts = sorted((e["values"], e["counts"]) for e in pc.value_counts(paths).to_pylist())
    first, last, held = "", "", 0
    for path, count in counts:
        if held and held + count > rows:
            yield _between(first, last)
            held = 0
        if not held:
            first = path
        last, held = path, held + count
    if held:
        yield _between(first, last)


def _between(first: str, last: str) -> str:
    return f"path >= {filters.literal(first)} AND path <= {filters.literal(last)}"
