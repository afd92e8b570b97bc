"""LanceDB and Lance, opened our way: quiet, with bounded caches.

LanceDB makes the table and writes to it, Lance's own Python package reads it. Each is imported
where it is needed first: LanceDB takes seconds.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .memory import limit_memory
from .reading import Reading
from .schema import TABLE_NAME, info_of
from .texts import RecentTexts

if TYPE_CHECKING:
    import pyarrow as pa

    from .storage import Storage

_INDEX_CACHE_BYTES = 1024 * 1024 * 1024
"""At most: of a million chunks the indices take 650 MB. Where they do not all have room, the one on
words and the one on vectors put each other out, and a question takes two to three times as long."""
_WRITER_INDEX_CACHE_BYTES = 128 * 1024 * 1024
"""For the indices on the keys, which a commit asks."""
_METADATA_CACHE_BYTES = 64 * 1024 * 1024

Table = Any
"""A ``lancedb.table.LanceTable``: LanceDB's types are not checked here."""


class Connection:
    """One process's way to the tables of an index; the handles that read share their caches, and
    so do those that write."""

    def __init__(self, storage: Storage) -> None:
        # Lance warns on stderr about ordinary things (a brute-force search); only errors count.
        for name in ("LANCE_LOG", "LANCEDB_LOG"):
            os.environ.setdefault(name, "error")
        limit_memory()
        self._where = str(storage)
        self._uri = storage.uri
        self._options = dict(storage.options) or None
        self._recent: dict[str, RecentTexts] = {}

    def open(self) -> Table:
        """A new handle to write by, at the latest version; it stays there until it is told to
        move."""
        return self._db.open_table(TABLE_NAME)

    def load_writer(self) -> None:
        """Import LanceDB, if that has not been done."""
        _ = self._db

    def open_reading(self, version: int | None = None) -> Reading:
        """A new handle to read by, at the latest version or at another."""
        dataset = self._dataset(version)
        table_id = info_of(dataset.schema, where=self._where).table_id
        if table_id not in self._recent:
            self._recent = {table_id: RecentTexts()}  # another table took the place of the one
        return Reading(dataset, self._recent[table_id])

    def newest_version(self) -> int:
        """The number of the latest version of any process; a fifth of a millisecond."""
        return int(self._any_version.latest_version)

    def create(self, schema: pa.Schema) -> Table:
        """Create the empty table."""
        return self._db.create_table(TABLE_NAME, schema=schema, mode="create")

    @cached_property
    def _db(self) -> Any:
        import lancedb

        session = lancedb.Session(
            index_cache_size_bytes=_WRITER_INDEX_CACHE_BYTES,
            metadata_cache_size_bytes=_METADATA_CACHE_BYTES,
        )
        return lancedb.connect(self._uri, session=session, storage_options=self._options)

    @cached_property
    def _session(self) -> Any:
        import lance

        return lance.Session(
            index_cache_size_bytes=_INDEX_CACHE_BYTES,
            metadata_cache_size_bytes=_METADATA_CACHE_BYTES,
        )

    @cached_property
    def _any_version(self) -> Any:
        return self._dataset(None)

    def _dataset(self, version: int | None) -> Any:
        import lance

        return lance.dataset(
            f"{self._uri}/{TABLE_NAME}.lance",
            version=version,
            storage_options=self._options,
            session=self._session,
        )


def table_folder(folder: Path) -> Path:
    """Where the table of an index folder is."""
    return folder / f"{TABLE_NAME}.lance"
