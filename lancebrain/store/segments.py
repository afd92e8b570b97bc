"""Index segments: work on an index in proportion to the rows that are outside of it.

LanceDB builds an index anew, or brings all of them up to date together with a compaction of the
whole table. Lance itself, in its own Python package, writes the rows that are outside an index as
one more segment of it. This is the only place that uses that package; it is of the same makers
and opens the same table.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from .memory import give_back

if TYPE_CHECKING:
    from .connection import Table

_CACHE_BYTES = 16 * 1024 * 1024
"""For what a merge of segments reads twice. Lance's own measure is gigabytes."""


def add_rows(table: Table, names: Collection[str]) -> None:
    """Take all rows into some indices, in a commit or two; the handle moves there.

    Segments of no more rows than come in are joined with them: so a row is written anew a few times
    in its life, as the number of rows doubles, and an index has few segments (as in log-structured
    merge trees).

    Args:
        table: at its newest version; the index lock is held.
        names: of indices.
    """
    if not names:
        return
    alike: defaultdict[int, list[str]] = defaultdict(list)
    for name in names:
        about = _statistics(table, name)
        if about["num_unindexed_rows"]:
            rows = about["num_indexed_rows_per_delta"]
            alike[to_merge(rows, about["num_unindexed_rows"])].append(name)
    for count, some in alike.items():
        give_back()
        _dataset(table).optimize.optimize_indices(num_indices_to_merge=count, index_names=some)
        table.checkout_latest()


def to_merge(rows: Sequence[int], new: int) -> int:
    """How many of the newest segments are to be joined with new rows.

    Args:
        rows: of the segments, the oldest first.
        new: how many rows are new.
    """
    count = 0
    for some in reversed(rows):
        if some > new:
            break
        new += some
        count += 1
    return count


def entries(table: Table, name: str) -> int:
    """The rows that a full-text index has words of: those in the table, and those that are gone
    and whose words stay until it is built anew."""
    # One that was built over no rows says nothing.
    return sum(one.get("num_docs", 0) for one in _statistics(table, name)["indices"])


def partitions(table: Table, name: str) -> int:
    """The most partitions that a segment of a vector index has."""
    return max(int(one["num_partitions"]) for one in _statistics(table, name)["indices"])


def _statistics(table: Table, name: str) -> dict[str, Any]:
    found: dict[str, Any] = _dataset(table).stats.index_stats(name)
    return found


def _dataset(table: Table) -> Any:
    # Lance warns on stderr about ordinary things; only errors count.
    os.environ.setdefault("LANCE_LOG", "error")
    return table.to_lance(
        index_cache_size_bytes=_CACHE_BYTES, metadata_cache_size_bytes=_CACHE_BYTES
    )
