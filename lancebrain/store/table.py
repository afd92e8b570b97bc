"""The store: an index folder with its table, and the one way to write to it.

Sync commits here, search and versions read snapshots. Everything that writes is called under
``lock``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lancebrain.chunking import CHUNKING_VERSION
from lancebrain.errors import IndexMismatchError, IndexNotFoundError, StoreError, UsageError

from . import indices, maintenance, tags
from .commit_log import CommitLog
from .connection import Connection, table_folder
from .failures import translated
from .hold import Hold
from .lock import IndexLock
from .maintenance import MaintenanceReport
from .manifests import identity, manifest_file, newest_manifests, version_of
from .recovery import drop_torn_versions, set_aside
from .retention import due_versions
from .rows import RowBatch, with_vectors
from .schema import StoreInfo, info_of, new_info, table_schema
from .snapshot import Snapshot
from .vector_cache import VectorCache
from .writer import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .connection import Table

_CREATE_TIMEOUT_S = 60.0
_KEEP_VERSIONS = timedelta(days=7)


class Store:
    """An open index.

    Attributes:
        folder: the index folder.
        info: what the index was built with.
        version: of the latest snapshot that was taken.
        recovered: versions that a power cut had torn and that opening dropped.
        commits: why each version exists.
        vector_cache: vectors of texts whose rows may be gone.
        hold: whether live sync rests.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        """Open what is there; use :meth:`open`, which says what may be wrong with it."""
        self.folder = folder
        self.read_only = read_only
        self.commits = CommitLog(folder)
        self.vector_cache = VectorCache(folder)
        self.hold = Hold(folder)
        self.recovered = [] if read_only else drop_torn_versions(table_folder(folder))
        self._lock = IndexLock(folder)
        self._guard = threading.Lock()
        # Three handles: one that writes, one that looks for newer versions, and the snapshot's,
        # which never moves. They share their caches.
        self._connection = Connection(folder)
        self._writer = Writer(table_folder(folder), self._connection)
        self._probe = self._connection.open()
        self._latest = self._open_latest()
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
            raise _not_found(folder)
        with translated(folder, "opening it"):
            store = cls(folder, read_only=read_only)
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
                schema = table_schema(
                    new_info(
                        model=model,
                        fingerprint=fingerprint,
                        dim=dim,
                        chunking_version=CHUNKING_VERSION,
                    )
                )
                CommitLog(folder).clear()
                with translated(folder, "creating it"):
                    # The full-text index is there before the first row, so that every version
                    # that anyone may go back to has one.
                    indices.build_full_text(Connection(folder).create(schema))
        return cls.open(folder)

    @staticmethod
    def set_aside(folder: Path, *, timeout_s: float) -> Path:
        """Move the table of a folder out of the way, to make a new one; nothing is deleted.

        Returns:
            Where the table is now.

        Raises:
            IndexLockedError: another process is writing.
            StoreError: the folder cannot be written.
        """
        with IndexLock(folder).held(timeout_s), translated(folder, "moving the table aside"):
            return set_aside(table_folder(folder))

    def snapshot(self, version: int | None = None) -> Snapshot:
        """One version to read from: the newest of any process, or an older one.

        Raises:
            UsageError: there is no such version (any more).
            IndexNotFoundError: the index was deleted meanwhile.
        """
        if version is not None:
            return self._open_version(version)
        with self._guard:
            try:
                with translated(self.folder, "looking for newer versions"):
                    self._probe.checkout_latest()
                    newest = identity(table_folder(self.folder), self._probe.version)
                    if newest != self._latest.identity:
                        self._latest = self._open_latest()
            except StoreError:
                if not self.exists(self.folder):
                    raise _not_found(self.folder) from None
                raise
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
        with self._writing("writing a commit"):
            version = self._writer.merge(data)
        self.commits.record(version, reason, counts, started)
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
        started = time.monotonic()
        # Whole rows are written: an update of one column alone would write that column anew for
        # every row of the fragments concerned, a second each time at 100,000 rows.
        snapshot = self.snapshot()
        rows = snapshot.whole_rows(keys)
        if not rows.num_rows:
            return snapshot.version
        data = with_vectors(rows, dict(zip(keys, vectors, strict=True)))
        with self._writing("writing vectors"):
            version = self._writer.merge(data)
        self.commits.record(version, reason, {"embedded": data.num_rows}, started)
        return version

    def ensure_indices(self) -> None:
        """Build the indices that are missing, and bring them up to date when they lag far behind.

        Cheap when there is nothing to do. The caller holds the lock.
        """
        with self._maintaining("building its indices") as table:
            indices.build_missing(table)
            if indices.is_behind(table):
                indices.build_full_text(table)

    def is_index_behind(self) -> bool:
        """Whether so many rows are outside the full-text index that searches suffer."""
        with self._guard, translated(self.folder, "looking at its indices"):
            self._probe.checkout_latest()
            return indices.is_behind(self._probe)

    def needs_maintenance(self, *, keep_versions: timedelta = _KEEP_VERSIONS) -> bool:
        """Whether :meth:`maintain` would pay; costs some milliseconds.

        Args:
            keep_versions: as for :meth:`maintain`.
        """
        due = self._due_versions(keep_versions, datetime.now(UTC))
        with self._guard, translated(self.folder, "looking at its state"):
            self._probe.checkout_latest()
            return maintenance.is_due(self._probe, due)

    def maintain(
        self,
        *,
        keep_versions: timedelta = _KEEP_VERSIONS,
        now: datetime | None = None,
        only_due: bool = False,
    ) -> MaintenanceReport:
        """Purge removed rows, compact, refresh the indices and clean up old versions.

        The caller holds the lock.

        Args:
            keep_versions: age up to which untagged versions stay; at least an hour. Tagged
                versions stay always.
            now: UTC-aware; the present by default.
            only_due: leave alone what does not pay yet: a compaction may rewrite the whole table.
        """
        due = self._due_versions(keep_versions, now or datetime.now(UTC))
        with self._maintaining("maintaining it") as table:
            folder = table_folder(self.folder)
            report = maintenance.maintain(table, folder, due, only_due=only_due)
        self.commits.prune()
        return report

    def _due_versions(self, keep: timedelta, now: datetime) -> list[int]:
        return due_versions(
            self.versions(),
            kept=set(self.tags().values()),
            reasons={record.version: record.reason for record in self.commits.read()},
            keep=keep,
            now=now,
        )

    def versions(self) -> dict[int, datetime]:
        """The versions that can be read, and when each was made."""
        made: dict[int, datetime] = {}
        with translated(self.folder, "listing its versions"):
            for manifest in newest_manifests(table_folder(self.folder)):
                try:
                    made_at = manifest.stat().st_mtime
                except FileNotFoundError:
                    continue  # cleaned up by another process while we look
                made[version_of(manifest)] = datetime.fromtimestamp(made_at, UTC)
        return made

    def tags(self) -> dict[str, int]:
        """Tags and the versions they name."""
        with translated(self.folder, "reading its tags"):
            return tags.read_tags(self._probe)

    def create_tag(self, name: str, version: int) -> None:
        """Name a version, which then survives every cleanup. The caller holds the lock.

        Raises:
            UsageError: the name is taken or not allowed, or there is no such version.
        """
        self._check_exists(version)
        with self._writing(f"naming version {version}"):
            tags.create_tag(self._probe, name, version)

    def delete_tag(self, name: str) -> None:
        """Remove a tag; its version stays until the next cleanup. The caller holds the lock.

        Raises:
            UsageError: there is no such tag.
        """
        with self._writing(f"removing the name {name!r}"):
            tags.delete_tag(self._probe, name)

    def restore(self, version: int) -> int:
        """Make a new version that equals an old one, and return it; the caller holds the lock.

        What the restore was for is the caller's to record.

        Raises:
            UsageError: there is no such version (any more).
        """
        self._check_exists(version)
        with self._writing(f"restoring version {version}"):
            return self._writer.restore(version)

    def bytes(self) -> int:
        """What the index folder takes on disk."""
        total = 0
        for file in self.folder.rglob("*"):
            try:
                total += file.lstat().st_size
            except FileNotFoundError:
                continue  # cleaned up by another process while we count
        return total

    @contextmanager
    def _writing(self, doing: str) -> Iterator[None]:
        self._check_writable()
        with translated(self.folder, doing):
            yield

    @contextmanager
    def _maintaining(self, doing: str) -> Iterator[Table]:
        """The newest version to change without changing what it holds; recorded if it moved."""
        started = time.monotonic()
        with self._writing(doing), self._writer.durably() as table:
            before = table.version
            yield table
            after = int(table.version)
        if after != before:
            self.commits.record(after, "maintenance", {}, started)

    def _check_writable(self) -> None:
        if self.read_only:
            raise StoreError(f"The index in {self.folder} was opened for reading only.")
        if not self._lock.is_held:
            raise UsageError("Only the holder of the index lock may write: `with store.lock(…):`.")

    def _open_latest(self) -> Snapshot:
        table = self._connection.open()
        self.info: StoreInfo = info_of(table.schema, where=str(self.folder))
        return Snapshot(table, self.folder, self._connection.open)

    def _open_version(self, version: int) -> Snapshot:
        self._check_exists(version)
        with translated(self.folder, f"opening version {version}"):
            table = self._connection.open()
            table.checkout(version)
            return Snapshot(table, self.folder, None)

    def _check_exists(self, version: int) -> None:
        if not manifest_file(table_folder(self.folder), version).exists():
            raise UsageError(
                f"The index in {self.folder} has no version {version}.",
                hint="Choose one from `lancebrain history`.",
            )


def _not_found(folder: Path) -> IndexNotFoundError:
    return IndexNotFoundError(
        f"There is no index in {folder}.", hint="Make one with `lancebrain sync FOLDER`."
    )
