"""What Lance's own Python package does in proportion, and LanceDB with all of a table or not at
all: rows that are outside an index are written as one more segment of it, and some pieces are
joined while the others stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from .memory import give_back

if TYPE_CHECKING:
    from .connection import Table

_MOST_SEGMENTS = 6
"""Each takes a question one or two milliseconds."""
_JOINED_AT_ONCE_ROWS = 1024
_CACHE_BYTES = 16 * 1024 * 1024
"""For what a merge of segments reads twice. Lance's own measure is gigabytes."""


def add_rows(table: Table, names: Collection[str]) -> None:
    """Take all rows into some indices, in a commit or two; the handle moves there.

    Args:
        table: at its newest version; the index lock is held.
        names: of indices.
    """
    alike: defaultdict[int, list[str]] = defaultdict(list)
    for name in names:
        about = _statistics(table, name)
        new = about["num_unindexed_rows"]
        if new:
            alike[to_merge(about["num_indexed_rows_per_delta"], new)].append(name)
    for count, some in alike.items():
        give_back()
        _dataset(table).optimize.optimize_indices(num_indices_to_merge=count, index_names=some)
        table.checkout_latest()


def can_join(table: Table, *, but: Sequence[int], rows: int) -> bool:
    """Whether :func:`join_pieces` would do something; costs some milliseconds."""
    from lance.optimize import Compaction

    return bool(Compaction.plan(_dataset(table), _joining(but, rows)).tasks)


def join_pieces(table: Table, *, but: Sequence[int], rows: int) -> None:
    """Join neighbouring pieces into larger ones, in a commit or two; the handle moves there. The
    indices follow the rows; only pieces that the same segments of them cover are joined.

    Args:
        table: at its newest version; the index lock is held.
        but: the numbers of pieces that stay as they are.
        rows: that each becomes, or up to twice as many; pieces of more stay.
    """
    give_back()
    _dataset(table).optimize.compact_files(**_joining(but, rows))
    table.checkout_latest()


def _joining(but: Sequence[int], rows: int) -> dict[str, Any]:
    return {
        "target_rows_per_fragment": rows,
        "excluded_fragment_ids": list(but),
        "materialize_deletions": False,
        "batch_size": _JOINED_AT_ONCE_ROWS,
        "num_threads": 1,
    }


def share_written(table: Table, name: str) -> float:
    """What taking all rows into an index would write, as a share of what it then holds."""
    about = _statistics(table, name)
    rows, new = about["num_indexed_rows_per_delta"], about["num_unindexed_rows"]
    joined = sum(rows[len(rows) - to_merge(rows, new) :])
    return float((joined + new) / max(sum(rows) + new, 1))


def to_merge(rows: Sequence[int], new: int) -> int:
    """How many of the newest segments are to be joined with new rows; none while there are few.

    Then the newest, and those before it as long as each has no more than twice the rows of all that
    are newer. So a row is written anew a few times in its life (as in log-structured merge trees).

    Args:
        rows: of the segments, the oldest first.
        new: how many rows are new.
    """
    if len(rows) < _MOST_SEGMENTS:
        return 0
    count = 0
    for some in reversed(rows):
        if count and some > 2 * new:  # one has to go, and then the small ones behind it cost little
            break
        new += some
        count += 1
    return count


def entries(table: Table, name: str) -> int:
    """The rows that a full-text index has words of: those in the table, and those that are gone
    and whose words stay until it is built anew."""
    # A segment of no rows says nothing.
    return sum(one.get("num_docs", 0) for one in _statistics(table, name)["indices"])


def partitions(table: Table, name: str) -> int:
    """The most partitions that a segment of a vector index has."""
    # A segment whose rows are all elsewhere by now says nothing.
    return max(int(one.get("num_partitions", 1)) for one in _statistics(table, name)["indices"])


def _statistics(table: Table, name: str) -> dict[str, Any]:
    found: dict[str, Any] = _dataset(table).stats.index_stats(name)
    return found


def _dataset(table: Table) -> Any:
    return table.to_lance(
        index_cache_size_bytes=_CACHE_BYTES, metadata_cache_size_bytes=_CACHE_BYTES
    )
