"""Vectors of texts that were embedded once, also after their rows are gone.

A branch switched there and back, an undo, a restored file: their vectors come from here. It is
a cache: losing it costs time and never truth, so a damaged file is thrown away and begun anew.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .failures import as_store_error, sqlite_code, translated

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_BUDGET_BYTES = 512 * 1024 * 1024
_LAYOUT = 1
"""Raised whenever the table below changes; a file of another layout is begun anew."""
_SCHEMA = """
CREATE TABLE vectors (
    chunk_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    vector BLOB NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (chunk_hash, fingerprint)
)
"""
_BUSY_TIMEOUT_S = 3.0
"""A write takes a tenth of a second; one that takes longer is of a process that was stopped."""
_TRIM_TO = 0.8
"""Share of the budget that a trim leaves filled, so that not every ``put`` trims."""
_USE_RESOLUTION_S = 24 * 3600
"""A use within a day of the last one is not written down: reading stays reading."""
_T = TypeVar("_T")


class VectorCache:
    """The cache of one index folder, shared by threads and processes.

    Args:
        folder: the index folder.
        name: of its file.
        budget_bytes: about how large it may grow; the least recently used vectors go first. None
            keeps all of them.
        clock: seconds since the epoch; tells which vectors were used last.
        read_only: the folder may not be written; then it counts as empty, as SQLite writes files
            to read one.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "vectors.sqlite",
        budget_bytes: int | None = DEFAULT_BUDGET_BYTES,
        clock: Callable[[], float] = time.time,
        read_only: bool = False,
    ) -> None:
        self._folder = folder
        self._file = folder / name
        self.budget_bytes = budget_bytes
        self._clock = clock
        self._read_only = read_only
        self._connection: sqlite3.Connection | None = None
        self._guard = threading.Lock()

    def get(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that are known for these chunk hashes; the others are left out."""
        if not hashes or self._read_only:
            return {}
        return self._run(lambda db: self._get(db, fingerprint, hashes), if_busy={})

    def put(self, fingerprint: str, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep vectors, (n, dim) float32 in the order of the hashes."""
        if not hashes:
            return
        now = int(self._clock())
        rows = [
            (chunk_hash, fingerprint, np.ascontiguousarray(vector, np.float32).tobytes(), now)
            for chunk_hash, vector in zip(hashes, vectors, strict=True)
        ]
        self._run(lambda db: self._put(db, rows), if_busy=None)

    def forget(self, hashes: Sequence[str]) -> None:
        """Remove the vectors of these texts, of every fingerprint, leaving no trace on disk."""
        self._run(lambda db: self._forget(db, hashes))

    def clear(self) -> None:
        """Remove every vector, leaving no trace on disk."""
        if self._file.exists():
            self._run(_clear)

    def hashes(self, fingerprint: str) -> set[str]:
        """The chunk hashes of all vectors of a model."""
        if not self._file.exists():
            return set()
        asked = "SELECT chunk_hash FROM vectors WHERE fingerprint = ?"
        return self._run(lambda db: {row[0] for row in db.execute(asked, (fingerprint,))})

    def drop(self) -> None:
        """Delete the file."""
        with self._guard:
            self._close()
            with translated(self._folder, "deleting vectors"):
                for file in self._files():
                    file.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file; the next call opens it again."""
        with self._guard:
            self._close()

    def _get(
        self, db: sqlite3.Connection, fingerprint: str, hashes: Sequence[str]
    ) -> dict[str, NDArray[np.float32]]:
        found: dict[str, NDArray[np.float32]] = {}
        stale: list[str] = []
        now = int(self._clock())
        rows = db.execute(
            "SELECT chunk_hash, vector, used_at FROM vectors"
            " WHERE fingerprint = ? AND chunk_hash IN (SELECT value FROM json_each(?))",
            (fingerprint, json.dumps(list(hashes))),
        )
        for chunk_hash, blob, used_at in rows:
            found[chunk_hash] = np.frombuffer(blob, np.float32)
            if now - used_at > _USE_RESOLUTION_S:
                stale.append(chunk_hash)
        if stale:
            db.executemany(
                "UPDATE vectors SET used_at = ? WHERE fingerprint = ? AND chunk_hash = ?",
                ((now, fingerprint, chunk_hash) for chunk_hash in stale),
            )
        return found

    def _put(self, db: sqlite3.Connection, rows: Iterable[tuple[str, str, bytes, int]]) -> None:
        db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        if self.budget_bytes is None:
            return
        used_bytes = _used_bytes(db)
        if used_bytes > self.budget_bytes:
            (count,) = db.execute("SELECT count(*) FROM vectors").fetchone()
            surplus = int(count * (1 - _TRIM_TO * self.budget_bytes / used_bytes))
            db.execute(
                "DELETE FROM vectors WHERE rowid IN"
                " (SELECT rowid FROM vectors ORDER BY used_at, rowid LIMIT ?)",
                (surplus,),
            )

    def _forget(self, db: sqlite3.Connection, hashes: Sequence[str]) -> None:
        db.executemany("DELETE FROM vectors WHERE chunk_hash = ?", ((h,) for h in hashes))
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _run(
        self, work: Callable[[sqlite3.Connection], _T], *, if_busy: _T | EllipsisType = ...
    ) -> _T:
        """Do ``work`` in a transaction; on a damaged file, once more on a new one.

        Args:
            if_busy: the result where another process keeps the file locked; without it, that is
                an error.
        """
        with self._guard:
            try:
                try:
                    return self._transaction(work)
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._close()
                    for file in self._files():
                        file.unlink(missing_ok=True)
                    return self._transaction(work)
            except (sqlite3.Error, OSError) as error:
                self._close()
                is_cache = self.budget_bytes is not None  # else nothing may be passed over
                if is_cache and _is_busy(error) and not isinstance(if_busy, EllipsisType):
                    return if_busy
                raise as_store_error(error, self._file, "using the vector cache") from error

    def _transaction(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        if self._connection is None:
            self._connection = self._open()
        with self._connection as db:
            result = work(db)
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()
        return result

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._file, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
        # A row is 2 KB at 512 dimensions: pages of the usual 4 KB would hold one, half empty.
        db.execute("PRAGMA page_size = 16384")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 64")  # pages: a log of 1 MB instead of 16
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")
        with db:
            db.execute("BEGIN IMMEDIATE")
            if db.execute("PRAGMA user_version").fetchone() != (_LAYOUT,):
                db.execute("DROP TABLE IF EXISTS vectors")
                db.execute(_SCHEMA)
                db.execute(f"PRAGMA user_version = {_LAYOUT}")
        return db

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _files(self) -> Iterator[Path]:
        for suffix in ("", "-wal", "-shm"):
            yield self._file.with_name(self._file.name + suffix)


def _clear(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM vectors")
    db.commit()
    db.execute("VACUUM")
    (is_busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        raise sqlite3.OperationalError("Another process keeps reading it.")


def _used_bytes(db: sqlite3.Connection) -> int:
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _is_busy(error: Exception) -> bool:
    return sqlite_code(error) == sqlite3.SQLITE_BUSY


def _is_damage(error: Exception) -> bool:
    return sqlite_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
