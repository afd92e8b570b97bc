"""The documents of a version as an Arrow table: a row each, with what their chunks add up to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.errors import UsageError
from lancebrain.store.filters import all_of
from lancebrain.store.schema import CHUNK_ROWS, DOCUMENT_ROWS, LIVE_ROWS, TIMESTAMP
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

_STORED = {
    "path": "path",
    "source": "source",
    "domain": "domain",
    "kind": "kind",
    "title": "doc.title",
    "tags": "tags",
    "size_bytes": "doc.size",
    "modified_at": "doc.mtime_ns",
    "mime": "doc.mime",
    "encoding": "doc.encoding",
    "sha256": "doc.sha256",
    "metadata": "doc.metadata",
    "links": "doc.links",
    "problems": "doc.problems",
}
_COUNTED = ("chunks", "pending", "characters")
COLUMNS = (*_STORED, *_COUNTED)
"""Of a document. ``metadata`` is the frontmatter as JSON; ``problems`` have code and message;
``chunks``, ``pending`` (those without a vector) and ``characters`` are counted."""


def read_documents(
    snapshot: Snapshot, wanted: Filter, columns: Sequence[str] = COLUMNS
) -> pa.Table:
    """The documents of which a filter lets anything pass, by path.

    All of them includes those without any chunk, and files that no reader takes (kind ``""``).

    Raises:
        UsageError: there is no such column.
    """
    for name in columns:
        if name not in COLUMNS:
            raise UsageError(
                f"Documents have no column {name!r}.", hint=f"There are: {', '.join(COLUMNS)}."
            )
    stored = {name: what for name, what in _STORED.items() if name in ("path", *columns)}
    rows = snapshot.scan(DOCUMENT_ROWS, stored).sort_by("path")
    if wanted != Filter():
        # What a filter asks for, such as a role, may be told of chunks alone.
        passed = snapshot.scan(all_of(LIVE_ROWS, snapshot.where(wanted)), ["path"])
        rows = rows.filter(pc.is_in(rows["path"], passed["path"].combine_chunks()))
    if "modified_at" in columns:
        micros = pc.divide(rows["modified_at"], 1_000).cast(TIMESTAMP)
        rows = rows.set_column(rows.column_names.index("modified_at"), "modified_at", micros)
    if set(_COUNTED) & set(columns):
        rows = _with_counts(snapshot, rows, with_characters="characters" in columns)
    return rows.select(list(columns))


def _with_counts(snapshot: Snapshot, rows: pa.Table, *, with_characters: bool) -> pa.Table:
    counted = {"path": "path", "embedded": "embedded"}
    if with_characters:
        counted["characters"] = "character_length(text)"
    chunks = snapshot.scan(CHUNK_ROWS, counted)
    sums = [("path", "count"), ("embedded", "sum")]
    if with_characters:
        sums.append(("characters", "sum"))
    by_path = chunks.group_by("path").aggregate(sums)
    at = pc.index_in(rows["path"], by_path["path"].combine_chunks())
    found = {
        name: pc.fill_null(by_path[name].take(at).cast(pa.int64()), 0)
        for name in by_path.column_names
        if name != "path"
    }
    rows = rows.append_column("chunks", found["path_count"])
    rows = rows.append_column("pending", pc.subtract(found["path_count"], found["embedded_sum"]))
    if with_characters:
        rows = rows.append_column("characters", found["characters_sum"])
    return rows
