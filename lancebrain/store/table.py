"""The store: an index folder with its table, and the one way to write to it.

Sync commits here, search and versions read snapshots. Everything that writes is called under
``lock``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lancebrain.chunking import CHUNKING_VERSION
from lancebrain.errors import IndexMismatchError, IndexNotFoundError, UsageError
from lancebrain.types import CommitRecord

from . import indices, maintenance
from .commit_log import CommitLog
from .connection import Connection, Table, table_folder
from .failures import as_store_error, translated
from .hold import Hold
from .lock import IndexLock
from .maintenance import MaintenanceReport
from .recovery import drop_empty_manifests, newest_manifests
from .retention import drop_versions
from .rows import RowBatch, with_vectors
from .schema import StoreInfo, info_of, new_info, table_schema
from .snapshot import Snapshot
from .vector_cache import VectorCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CREATE_TIMEOUT_S = 60.0


class Store:
    """An open index.

    Attributes:
        folder: the index folder.
        info: what the index was built with.
        version: of the latest snapshot that was taken.
        commits: why each version exists.
        vector_cache: vectors of texts whose rows may be gone.
        hold: whether live sync rests.
    """

    def __init__(self, folder: Path, connection: Connection, *, read_only: bool) -> None:
        self.folder = folder
        self.read_only = read_only
        self.commits = CommitLog(folder)
        self.vector_cache = VectorCache(folder)
        self.hold = Hold(folder)
        self._connection = connection
        self._lock = IndexLock(folder)
        self._guard = threading.Lock()
        # Three handles: one that writes, one that looks for newer versions, and the snapshot's,
        # which never moves. They share their caches.
        self._writer: Table = connection.open()
        self._probe: Table = connection.open()
        self.info: StoreInfo = info_of(self._writer.schema, where=str(folder))
        self._latest: Snapshot = self._open_latest()
        self.version: int = self._latest.version

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether there is an index in the folder."""
        return bool(newest_manifests(table_folder(folder)))

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Store:
        """Open an index.

        Args:
            read_only: nothing will be written, so that the folder need not be writable.

        Raises:
            IndexNotFoundError: there is none.
            IndexMismatchError: it was made by a newer LanceBrain, or cut into chunks otherwise.
            StoreError: it is damaged or cannot be read.
        """
        if not cls.exists(folder):
            raise IndexNotFoundError(
                f"There is no index in {folder}.", hint="Make one with `lancebrain sync FOLDER`."
            )
        with translated(folder, "opening it"):
            drop_empty_manifests(table_folder(folder))
            store = cls(folder, Connection(folder), read_only=read_only)
        if store.info.chunking_version != CHUNKING_VERSION:
            raise IndexMismatchError(
                f"The index in {folder} was cut into chunks by version "
                f"{store.info.chunking_version}, this LanceBrain has {CHUNKING_VERSION}.",
                hint="Run `lancebrain migrate`.",
            )
        return store

    @classmethod
    def create(cls, folder: Path, *, model: str, fingerprint: str, dim: int) -> Store:
        """Make an index in the folder; when another process was first, open that one.

        Raises:
            StoreError: the folder cannot be written.
        """
        with translated(folder, "making the folder"):
            folder.mkdir(parents=True, exist_ok=True)
        with IndexLock(folder).held(_CREATE_TIMEOUT_S):
            if not cls.exists(folder):
                info = new_info(
                    model=model,
                    fingerprint=fingerprint,
                    dim=dim,
                    chunking_version=CHUNKING_VERSION,
                )
                with translated(folder, "creating it"):
                    # The full-text index is there before the first row, so that every version
                    # that anyone may go back to has one.
                    indices.build_full_text(Connection(folder).create(table_schema(info)))
        return cls.open(folder)

    def snapshot(self, version: int | None = None) -> Snapshot:
        """One version to read from: the newest of any process, or an older one.

        Raises:
            UsageError: there is no such version (any more).
        """
        if version is not None:
            return self._open_version(version)
        with self._guard, translated(self.folder, "looking for newer versions"):
            self._probe.checkout_latest()
            if self._probe.version != self._latest.version:
                self._latest = self._open_latest()
                self.version = self._latest.version
            return self._latest

    def lock(self, timeout_s: float) -> AbstractContextManager[None]:
        """Hold the index lock: nobody else writes meanwhile. Reentrant within a thread.

        Raises:
            IndexLockedError: another holder kept it for longer than ``timeout_s``.
        """
        return self._lock.held(timeout_s)

    def commit(
        self, rows: RowBatch, *, reason: str, counts: Mapping[str, int], started: float
    ) -> int:
        """Write all rows of the batch as one new version, or none of them.

        The caller holds the lock.

        Args:
            reason: such as ``sync``, see :class:`CommitRecord`.
            counts: for the record.
            started: ``time.monotonic()`` when the work for this commit began.

        Returns:
            The new version; for an empty batch, which writes nothing, the current one.

        Raises:
            StoreError: it could not be written; the table is as it was.
        """
        if not len(rows):
            return self.snapshot().version
        data = rows.to_arrow(table_schema(self.info), self.info.dim)
        version = self._merge(data)
        self._record(version, reason, counts, started)
        return version

    def set_vectors(
        self,
        keys: Sequence[tuple[str, int]],
        vectors: NDArray[np.float32],
        *,
        reason: str = "backfill",
    ) -> int:
        """Give rows their vectors and change nothing else; rows that are gone stay gone.

        The caller holds the lock.

        Args:
            keys: (path, chunk_index) of chunk rows.
            vectors: (n, dim) float32, L2-normalised.

        Returns:
            The new version; the current one when none of the rows is there.
        """
        if not keys:
            return self.snapshot().version
        started = time.monotonic()
        # Whole rows are written: an update of one column alone would write that column anew for
        # every row of the fragments concerned, a second each time at 100,000 rows.
        rows = self.snapshot().whole_rows(keys)
        if not rows.num_rows:
            return self.version
        data = with_vectors(rows, dict(zip(keys, vectors, strict=True)))
        version = self._merge(data)
        self._record(version, reason, {"embedded": data.num_rows}, started)
        return version

    def ensure_indices(self) -> None:
        """Build the indices that are missing, and bring them up to date when they lag far behind.

        Cheap when there is nothing to do. The caller holds the lock.
        """
        with translated(self.folder, "building its indices"):
            self._writer.checkout_latest()
            indices.build_missing(self._writer)
            if indices.is_behind(self._writer):
                maintenance.refresh(self._writer)

    def needs_maintenance(self) -> bool:
        """Whether :meth:`maintain` would pay; cheap."""
        with translated(self.folder, "looking at its state"):
            self._probe.checkout_latest()
            return maintenance.is_due(self._probe)

    def maintain(
        self, *, keep_versions: timedelta, now: datetime | None = None
    ) -> MaintenanceReport:
        """Purge removed rows, compact, refresh the indices and clean up old versions.

        The caller holds the lock.

        Args:
            keep_versions: age up to which untagged versions stay; at least an hour. Tagged
                versions stay always.
            now: UTC-aware; the present by default.
        """
        started = time.monotonic()
        with translated(self.folder, "maintaining it"):
            table = self._writer
            table.checkout_latest()
            fragments = maintenance.fragment_count(table)
            tombstones = maintenance.purge_tombstones(table)
            dropped = drop_versions(
                table_folder(self.folder),
                set(self.tags().values()),
                keep=keep_versions,
                now=now or datetime.now(UTC),
            )
            rebuilt = maintenance.refresh(table)
            table.checkout_latest()
            return MaintenanceReport(
                version=table.version,
                tombstones=tombstones,
                fragments_before=fragments,
                fragments_after=maintenance.fragment_count(table),
                versions_removed=len(dropped),
                rebuilt=tuple(rebuilt),
                seconds=time.monotonic() - started,
            )

    def tags(self) -> dict[str, int]:
        """Tags and the versions they name."""
        with translated(self.folder, "reading its tags"):
            return {name: int(tag["version"]) for name, tag in self._writer.tags.list().items()}

    def create_tag(self, name: str, version: int) -> None:
        """Name a version, which then survives every cleanup.

        Raises:
            UsageError: the name is taken or not allowed, or there is no such version.
        """
        self._usage(lambda: self._writer.tags.create(name, version), f"Tag {name!r}")

    def delete_tag(self, name: str) -> None:
        """Remove a tag; its version stays until the next cleanup.

        Raises:
            UsageError: there is no such tag.
        """
        self._usage(lambda: self._writer.tags.delete(name), f"Tag {name!r}")

    def restore(self, version: int) -> int:
        """Make a new version that equals an old one, and return it; the caller holds the lock.

        Raises:
            UsageError: there is no such version (any more).
        """
        self._open_version(version)
        with translated(self.folder, f"restoring version {version}"):
            self._writer.checkout_latest()
            self._writer.restore(version)
            self._writer.checkout_latest()
            return int(self._writer.version)

    def bytes(self) -> int:
        """What the index folder takes on disk."""
        total = 0
        for file in self.folder.rglob("*"):
            try:
                total += file.stat().st_size if file.is_file() else 0
            except FileNotFoundError:
                continue  # cleaned up by another process while we count
        return total

    def _merge(self, data: pa.Table) -> int:
        with translated(self.folder, "writing a commit"):
            self._writer.checkout_latest()
            merge = self._writer.merge_insert(["path", "chunk_index"])
            merge = merge.when_matched_update_all().when_not_matched_insert_all()
            # Without "null" LanceDB refuses vectors that are missing; bad ones never get here.
            return int(merge.execute(data, on_bad_vectors="null").version)

    def _record(self, version: int, reason: str, counts: Mapping[str, int], started: float) -> None:
        self.commits.append(
            CommitRecord(
                version=version,
                reason=reason,
                at=datetime.now(UTC),
                seconds=time.monotonic() - started,
                counts=dict(counts),
            )
        )

    def _open_latest(self) -> Snapshot:
        return Snapshot(self._connection.open(), self.folder, self._connection.open)

    def _open_version(self, version: int) -> Snapshot:
        table = self._connection.open()
        self._usage(lambda: table.checkout(version), f"Version {version}")
        return Snapshot(table, self.folder, None)

    def _usage(self, call: Callable[[], None], what: str) -> None:
        try:
            call()
        except (ValueError, RuntimeError) as error:
            lower = str(error).lower()
            if any(
                s in lower for s in ("not found", "already exists", "invalid", "does not exist")
            ):
                raise UsageError(f"{what}: {str(error).splitlines()[0]}") from error
            raise as_store_error(error, self.folder, what) from error
