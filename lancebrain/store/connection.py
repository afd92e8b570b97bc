"""LanceDB, opened our way: quiet, with bounded caches. The only place that imports it whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .memory import limit_memory
from .reading import Reading, run
from .schema import TABLE_NAME, info_of
from .texts import RecentTexts

if TYPE_CHECKING:
    import pyarrow as pa

    from .storage import Storage

_INDEX_CACHE_BYTES = 1024 * 1024 * 1024
"""At most: of a million chunks the indices take 650 MB. Where they do not all have room, the one on
words and the one on vectors put each other out, and a question takes two to three times as long."""
_METADATA_CACHE_BYTES = 64 * 1024 * 1024

Table = Any
"""A ``lancedb.table.LanceTable``: LanceDB's types are not checked here."""


class Connection:
    """One process's way to the tables of an index; its handles share their caches."""

    def __init__(self, storage: Storage) -> None:
        # Lance warns on stderr about ordinary things (a brute-force search); only errors count.
        os.environ.setdefault("LANCEDB_LOG", "error")
        limit_memory()
        # Here and not above: the import takes seconds, and reading a hold or a log needs none.
        import lancedb

        session = lancedb.Session(
            index_cache_size_bytes=_INDEX_CACHE_BYTES,
            metadata_cache_size_bytes=_METADATA_CACHE_BYTES,
        )
        self._where = str(storage)
        options = dict(storage.options) or None
        self._recent: dict[str, RecentTexts] = {}
        self._db = lancedb.connect(storage.uri, session=session, storage_options=options)
        self._reading_db = run(
            lancedb.connect_async(storage.uri, session=session, storage_options=options)
        )

    def open(self) -> Table:
        """A new handle at the latest version; it stays there until it is told to move."""
        return self._db.open_table(TABLE_NAME)

    def open_reading(self, version: int | None = None) -> Reading:
        """A new handle to read by, at the latest version or at another."""
        table = run(self._opened(version))
        table_id = info_of(run(table.schema()), where=self._where).table_id
        if table_id not in self._recent:
            self._recent = {table_id: RecentTexts()}  # another table took the place of the one
        return Reading(table, self._recent[table_id])

    async def _opened(self, version: int | None) -> Any:
        table = await self._reading_db.open_table(TABLE_NAME)
        if version is not None:
            await table.checkout(version)
        return table

    def create(self, schema: pa.Schema) -> Table:
        """Create the empty table."""
        return self._db.create_table(TABLE_NAME, schema=schema, mode="create")


def table_folder(folder: Path) -> Path:
    """Where the table of an index folder is."""
    return folder / f"{TABLE_NAME}.lance"
