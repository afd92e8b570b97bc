"""Which indices a table has, and when: full text from its birth, the others once they pay.

Rows outside an index are found all the same, by a scan; indices cost or save time, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import segments
from .failures import is_damage
from .memory import give_back
from .schema import CHUNK_ROWS, EMBEDDED_ROWS, vector_columns

if TYPE_CHECKING:
    from .connection import Table

_KEYS = ("path", "chunk_index", "chunk_hash")
_KEY_INDEX_ROWS = 10_000
"""From here a commit of 20 rows is quicker with both keys of a row indexed; below, nothing is. The
hash of a chunk is looked up with every edit: in 46,000 rows that takes 27 ms, with an index 7."""
_VECTOR_INDEX_ROWS = 2_000
"""From here a scan of all vectors takes longer than asking an index (512 dimensions; 24 and 18 ms
for 2,000, 85 and 22 for 8,000). Building one takes 70 ms for each thousand."""
_PARTITION_ROWS = 16_384
"""Of the vector index; a quarter of this is the default, and takes twice as long to build."""
_PARTITIONS_GROWN = 4
"""Rows that come in go to the partitions there are; with so many times what a new index would
have to each, it is built anew."""
_MOST_WRITTEN = 1 / 3
"""Of a full-text index. Joining segments of it takes 0.2 ms a row, building it anew 0.05; the other
indices are joined in no time."""
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


def is_due(table: Table, rows: int, share: float) -> bool:
    """Whether :func:`bring_up` would do something; costs some milliseconds.

    Args:
        rows, share: as for :func:`behind`.
    """
    return bool(missing(table) or behind(table, rows, share))


def bring_up(table: Table, rows: int, share: float, gone: float) -> list[str]:
    """Build the indices that a table of this size should have, but for the one on vectors, and take
    the rows in that are outside of any.

    Args:
        rows, share: as for :func:`behind`.
        gone: what an index may hold of rows that are gone, as a share of those that are there.

    Returns:
        Columns whose index was built anew.
    """
    built = missing(table)
    if "text" in built:
        build_full_text(table)
    build_keys(table, [column for column in built if column != "text"])
    names = behind(table, rows, share)
    text = indices_of(table)["text"].name
    try:
        if _gone_share(table) > gone:
            return rebuild(table)
        if text in names and segments.share_written(table, text) > _MOST_WRITTEN:
            build_full_text(table)
            names.remove(text)
            built.append("text")
        segments.add_rows(table, names)
    except (OSError, RuntimeError, ValueError) as error:
        if not is_damage(error):
            raise
        # Built anew, an index has everything; a second failure is told.
        table.checkout_latest()
        return rebuild(table)
    return built


def rebuild(table: Table) -> list[str]:
    """Build all indices that there are anew, and return their columns."""
    there = indices_of(table)
    build_full_text(table)
    keys = [column for column in _KEYS if column in there]
    build_keys(table, keys)
    vectors = there.get(vector_columns(table.schema)[0])
    if vectors is None:
        return ["text", *keys]
    if int(table.count_rows(EMBEDDED_ROWS)) < _VECTOR_INDEX_ROWS:
        table.drop_index(vectors.name)  # few vectors are compared one by one
        return ["text", *keys]
    build_vectors(table)
    return ["text", *keys, "vector"]


def build_keys(table: Table, columns: Sequence[str] = _KEYS) -> None:
    """Build the indices on the keys anew."""
    from lancedb.index import BTree

    for column in columns:
        _build(table, column, BTree())


def vectors_due(table: Table) -> bool:
    """Whether to build the vector index: there are enough vectors for one, and it is not there;
    costs some milliseconds."""
    return not has_vectors(table) and int(table.count_rows(EMBEDDED_ROWS)) >= _VECTOR_INDEX_ROWS


def vectors_outgrown(table: Table) -> bool:
    """Whether the vector index has so many rows to a partition that it is to be built anew."""
    index = indices_of(table).get(vector_columns(table.schema)[0])
    if index is None or index.num_indexed_rows <= _PARTITIONS_GROWN * _PARTITION_ROWS:
        return False
    borne = _PARTITIONS_GROWN * _PARTITION_ROWS * segments.partitions(table, index.name)
    return bool(index.num_indexed_rows > borne)


def has_keys(table: Table) -> bool:
    """Whether both keys of a row have an index."""
    return {"path", "chunk_index"} <= indices_of(table).keys()


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


def behind(table: Table, rows: int, share: float) -> list[str]:
    """The indices, by their names, that lack more rows than are borne.

    Args:
        rows: that are borne.
        share: of those in the index that are borne beside them.
    """
    return [
        index.name
        for index in table.list_indices()
        if index.num_unindexed_rows > rows + share * min(index.num_indexed_rows, _SHARED_ROWS)
    ]


def _gone_share(table: Table) -> float:
    """What an index holds of rows that are gone, as a share of those that are there."""
    index = indices_of(table).get("text")
    there = int(table.count_rows(CHUNK_ROWS))
    if index is None or not there:
        return 0.0
    return segments.entries(table, index.name) / there - 1


def indices_of(table: Table) -> dict[str, Any]:
    """The indices by the column they are on."""
    return {index.columns[0]: index for index in table.list_indices()}
