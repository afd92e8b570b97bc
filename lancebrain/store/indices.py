"""Which indices a table has, and when: full text from its birth, the others once they pay.

Rows outside an index are found all the same, by a scan; indices cost or save time, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .memory import give_back
from .schema import EMBEDDED_ROWS, vector_columns

if TYPE_CHECKING:
    from .connection import Table

_KEYS = ("path", "chunk_index", "chunk_hash")
_KEY_INDEX_ROWS = 10_000
"""From here a commit of 20 rows is quicker with both keys of a row indexed; below, nothing is. The
hash of a chunk is looked up with every edit: in 46,000 rows that takes 27 ms, with an index 7."""
_VECTOR_INDEX_ROWS = 2_000
"""From here a scan of all vectors takes longer than asking an index (512 dimensions; 24 and 18 ms
for 2,000, 85 and 22 for 8,000). Building one takes 70 ms for each thousand."""
_UNINDEXED_VECTORS = 2_000
_UNINDEXED_VECTORS_SHARE = 0.1
"""Rows outside the vector index that are borne, and of those in it: each thousand takes a question
5 ms."""
_VECTOR_SEGMENTS = 10
"""Lance adds a segment whenever it refreshes a vector index, and never joins them."""
_PARTITION_ROWS = 16_384
"""Of the vector index; a quarter of this is the default, and takes twice as long to build."""
_UNINDEXED_ROWS = 500
UNINDEXED_SHARE = 0.05
"""Rows outside the full-text index that are borne: each thousand costs a search 30 ms, and
building it takes 25 ms for each thousand rows of the table."""
_SHARED_ROWS = 100_000
"""Shares are of no more rows than these: what a search bears does not grow with the table."""


def build_full_text(table: Table) -> None:
    """Build the full-text index anew.

    ``icu/split`` finds words in Chinese and Japanese and splits snake_case and paths. Stemming
    knows English alone and gains nothing measurable; a stop word of one language is a word of
    another.
    """
    from lancedb.index import FTS

    words = FTS(base_tokenizer="icu/split", with_position=True, stem=False, remove_stop_words=False)
    _build(table, "text", words)


def missing(table: Table) -> list[str]:
    """The columns whose index a table of this size should have and does not."""
    indices = indices_of(table)
    # A merge on two keys uses an index only where both have one.
    keys = _KEYS if table.count_rows() >= _KEY_INDEX_ROWS else ()
    return [column for column in ("text", *keys) if column not in indices]


def build_missing(table: Table) -> list[str]:
    """Build the indices that a table of this size should have, and return their columns."""
    columns = missing(table)
    if "text" in columns:
        build_full_text(table)
    build_keys(table, [column for column in columns if column != "text"])
    return columns


def rebuild(table: Table) -> list[str]:
    """Build the indices anew, but for the one on vectors, and return their columns."""
    there = indices_of(table)
    build_full_text(table)
    keys = [column for column in _KEYS if column in there]
    build_keys(table, keys)
    return ["text", *keys]


def rebuild_all(table: Table) -> None:
    """Build the indices anew, the one on vectors too."""
    rebuild(table)
    if has_vectors(table):
        build_vectors(table)


def build_keys(table: Table, columns: Sequence[str] = _KEYS) -> None:
    """Build the indices on the keys anew."""
    from lancedb.index import BTree

    for column in columns:
        _build(table, column, BTree())


def vectors_due(table: Table) -> bool:
    """Whether to build the vector index: there are enough vectors for one and it is not there,
    or too many are outside of it, or refreshes have left it in pieces."""
    index = indices_of(table).get(vector_columns(table.schema)[0])
    if index is not None:
        borne = _UNINDEXED_VECTORS + _UNINDEXED_VECTORS_SHARE * _shared(index.num_indexed_rows)
        is_behind = index.num_unindexed_rows > borne
        return bool(is_behind or index.num_segments > _VECTOR_SEGMENTS)
    return int(table.count_rows(EMBEDDED_ROWS)) >= _VECTOR_INDEX_ROWS


def has_vectors(table: Table) -> bool:
    """Whether there is a vector index."""
    return vector_columns(table.schema)[0] in indices_of(table)


def build_vectors(table: Table) -> None:
    """Build the vector index anew."""
    build_vectors_of(table, vector_columns(table.schema)[0], int(table.count_rows(EMBEDDED_ROWS)))


def build_vectors_of(table: Table, column: str, rows: int) -> None:
    """Build the vector index of a column, if it has enough vectors for one."""
    from lancedb.index import IvfFlat, IvfRq

    if rows < _VECTOR_INDEX_ROWS:
        return
    partitions = max(1, rows // _PARTITION_ROWS)
    config: Any
    if table.schema.field(column).type.list_size % 8:
        config = IvfFlat(distance_type="cosine", num_partitions=partitions)  # takes any length
    else:
        # Four bits a dimension find 99.8 % of the first hundred, three 99.3, two 89.
        config = IvfRq(distance_type="cosine", num_bits=4, num_partitions=partitions)
    _build(table, column, config)


def _build(table: Table, column: str, config: Any) -> None:
    give_back()  # what a build before this one freed: builds are where memory peaks
    table.create_index(column, config=config, replace=True)


def is_behind(table: Table, share: float = UNINDEXED_SHARE) -> bool:
    """Whether so many rows are outside the full-text index that searches suffer."""
    index = indices_of(table).get("text")
    if index is None:
        return True
    total = index.num_indexed_rows + index.num_unindexed_rows
    return bool(index.num_unindexed_rows > _UNINDEXED_ROWS + share * _shared(total))


def _shared(rows: int) -> int:
    return min(rows, _SHARED_ROWS)


def covers_all_text(table: Table) -> bool:
    """Whether no row is outside the full-text index."""
    index = indices_of(table).get("text")
    return index is not None and index.num_unindexed_rows == 0


def indices_of(table: Table) -> dict[str, Any]:
    """The indices by the column they are on."""
    return {index.columns[0]: index for index in table.list_indices()}
