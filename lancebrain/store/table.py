"""The store: an index with its table, and the one way to write to it.

Sync commits here, search and versions read snapshots. Everything that writes is called under
``lock``.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from . import changing, indices, maintenance, rewriting, tags
from .changing import Changed, Find
from .maintenance import AT_REST, MaintenanceReport, Tolerance
from .memory import give_back
from .opened import OpenIndex
from .planned import PlannedChange
from .recall import check_recall
from .retention import due_versions
from .rewriting import Rewritten
from .rows import RowBatch, vectors_of, with_vectors
from .schema import table_schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .connection import Table
    from .storage import Storage

_KEEP_VERSIONS = timedelta(days=7)
_VERSIONS_A_LOOK = 20
"""So many new ones make it worth looking for old versions and small pieces: where those of a week
with 200 edits a day are kept, that takes 20 ms, and more with more rows."""


class Store(OpenIndex):
    """An open index that can be written to, see also :class:`OpenIndex`."""

    def __init__(self, storage: Storage, *, read_only: bool = False) -> None:
        """See :class:`OpenIndex`."""
        super().__init__(storage, read_only=read_only)
        self._looked_at: dict[Tolerance, int] = {}

    def open_to_write(self) -> None:
        """Load now what the first commit needs, which takes seconds; reading needs none of it.

        Raises:
            StoreError: the table cannot be opened.
        """
        with self._step("opening it to write"):
            self._handles.writer.open()

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
        with self._writing("writing a commit", alone=False):
            version = self._handles.writer.merge(data)
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
        snapshot = self.snapshot()
        row_of = snapshot.row_ids(keys)
        if not row_of:
            return snapshot.version
        found = {key: vector for key, vector in zip(keys, vectors, strict=True) if key in row_of}
        with self._writing("writing vectors", alone=False):
            if self._handles.writer.is_much_of_its_pieces(list(row_of.values())):
                version = self._handles.writer.update(vectors_of(found, self.info.dim))
            else:
                rows = snapshot.whole_rows(row_of.values())
                version = self._handles.writer.merge(with_vectors(rows, found))
        self.commits.record(version, reason, {"embedded": len(found)}, started)
        return version

    def change_model(self, to: PlannedChange, find: Find) -> Changed:
        """Give every chunk the vector of another model in place of the one it has.

        The caller holds the lock. Older versions stay as they are, with their model.

        Args:
            to: the model.
            find: chunk hashes → the vectors there are for them; where there is none, the chunk
                lacks one afterwards.

        Raises:
            StoreError: it could not be written; the model in use is still the old one.
        """
        started = time.monotonic()
        before = self.info.model
        with self._writing("changing the model"), self._handles.writer.durably() as table:
            first = int(table.version) + 1
            done = changing.change_model(table, to, find)
            last = int(table.version)
        for version in range(first, last + 1):
            if version == done.version:
                counts, note = {"embedded": done.embedded}, f"from {before} to {to.model}"
                self.commits.record(version, "migrate", counts, started, note=note)
            else:
                reason = "maintenance" if version < done.version else "backfill"
                self.commits.record(version, reason, {}, started)
        # Neither one thing nor the other: nobody should go back to them.
        self.storage.drop_versions(range(first, done.version))
        self.snapshot()
        self._check_recall()
        return done

    def ensure_indices(self) -> None:
        """Build the indices that are missing, and take the rows in that are outside of them, where
        these are more than is borne while much comes in.

        Cheap when there is nothing to do. The index on vectors is left to :meth:`maintain`. The
        caller holds the lock.
        """
        self._lock.check()  # also where nothing is to be built: who lost the lock is told so
        if not self.is_index_behind():
            return
        with self._maintaining("bringing up its indices") as table:
            built = maintenance.bring_up_indices(table, maintenance.WHILE_FILLING)
        if "vector" in built:
            self._check_recall()

    def rebuild_indices(self) -> None:
        """Build every index anew, as one that is damaged has to be. The caller holds the lock."""
        with self._maintaining("building its indices anew") as table:
            indices.rebuild(table)
        self._check_recall()

    def is_index_behind(self) -> bool:
        """Whether an index is missing, or lacks so many rows that searches suffer."""
        with self._step("looking at its indices"), self._handles.probe() as table:
            return maintenance.is_behind(table, maintenance.WHILE_FILLING)

    def needs_maintenance(
        self, *, keep_versions: timedelta = _KEEP_VERSIONS, tolerance: Tolerance = AT_REST
    ) -> bool:
        """Whether :meth:`maintain` would pay; costs some milliseconds.

        Args:
            keep_versions: as for :meth:`maintain`.
        """
        with self._step("looking at its state"), self._handles.probe() as table:
            if maintenance.are_indices_due(table, tolerance):
                return True
            version = int(table.version)
            looked_at = self._looked_at.get(tolerance)
            if looked_at is not None and abs(version - looked_at) < _VERSIONS_A_LOOK:
                return False
            self._looked_at[tolerance] = version
            due = self.due_versions(keep_versions, datetime.now(UTC))
            return maintenance.is_due(table, due, tolerance)

    def join_tiny(self) -> None:
        """Join the pieces that single edits left, if there are many: what cannot wait for
        :meth:`maintain` while edit follows edit. The caller holds the lock."""
        with self._maintaining("joining small pieces") as table:
            maintenance.join_tiny(table)

    def maintain(
        self,
        *,
        keep_versions: timedelta = _KEEP_VERSIONS,
        now: datetime | None = None,
        only_due: bool = False,
        tolerance: Tolerance = AT_REST,
    ) -> MaintenanceReport:
        """Purge removed rows, compact, refresh the indices and clean up old versions.

        The caller holds the lock.

        Args:
            keep_versions: age up to which untagged versions stay; at least an hour. Tagged
                versions stay always.
            now: UTC-aware; the present by default.
            only_due: leave alone what does not pay yet: joining pieces may rewrite much of a table.
            tolerance: what pays; ``WHILE_FILLING`` when much more is to be written soon.
        """
        due = self.due_versions(keep_versions, now or datetime.now(UTC))
        with self._maintaining("maintaining it") as table:
            report = maintenance.maintain(
                table, self.storage, due, only_due=only_due, tolerance=tolerance
            )
            if "vector" in report.rebuilt:
                self._check_recall()
        self.commits.prune()
        return report

    def _check_recall(self) -> None:
        """Note how many of the nearest chunks the vector index finds."""
        with self._step("looking at its indices"), self._handles.probe() as table:
            is_there = indices.has_vectors(table)
        recall = check_recall(self.snapshot()) if is_there else None
        if recall is not None:
            self.recall.write(recall)
        elif self.recall.read() is not None:
            self.recall.clear()

    def survey(self) -> MaintenanceReport:
        """The state that :meth:`maintain` would begin with, as a report of nothing done."""
        with self._step("looking at its state"), self._handles.probe() as table:
            return maintenance.survey(table)

    def due_versions(self, keep: timedelta, now: datetime) -> list[int]:
        """The versions that a cleanup would remove, see :func:`retention.due_versions`."""
        made_at = self.versions()
        return due_versions(
            made_at,
            kept=set(self.tags().values()),
            reasons={record.version: record.reason for record in self.commits.read(made_at)},
            keep=keep,
            now=now,
        )

    def create_tag(self, name: str, version: int) -> None:
        """Name a version, which then survives every cleanup. The caller holds the lock.

        Raises:
            UsageError: the name is taken or not allowed, or there is no such version.
        """
        self._check_exists(version)
        with self._writing(f"naming version {version}"), self._handles.probe() as table:
            tags.create_tag(table, name, version)

    def delete_tag(self, name: str) -> None:
        """Remove a tag; its version stays until the next cleanup. The caller holds the lock.

        Raises:
            UsageError: there is no such tag.
        """
        with self._writing(f"removing the name {name!r}"), self._handles.probe() as table:
            tags.delete_tag(table, name)

    def restore(self, version: int) -> int:
        """Make a new version that equals an old one, and return it; the caller holds the lock.

        What the restore was for is the caller's to record.

        Raises:
            UsageError: there is no such version (any more).
        """
        self._check_exists(version)
        with self._writing(f"restoring version {version}"):
            return self._handles.writer.restore(version)

    def rewrite(
        self,
        kept: Collection[int],
        *,
        without: Collection[str],
        counts: Mapping[str, int],
        started: float,
    ) -> Rewritten:
        """Write the table anew from some versions, without some documents; the rest is deleted.

        Versions get new numbers; checkpoints, records and a hold go with them. The caller holds
        the lock. Needs room for a second table meanwhile.

        Args:
            kept: versions that stay; the newest and all that are tagged have to be among them.
            without: paths of the documents that none of them has any more.
            counts, started: for the record, as in :meth:`commit`.

        Raises:
            StoreError: it could not be written; the table is as it was.
        """
        with self._writing("writing it anew"):
            done = rewriting.rewrite(self, kept, without, counts=counts, started=started)
            self._handles.follow()
        return done

    @contextmanager
    def _maintaining(self, doing: str) -> Iterator[Table]:
        """The newest version to change without changing what it holds; recorded if it moved."""
        started = time.monotonic()
        with self._writing(doing), self._handles.writer.durably() as table:
            before = table.version
            yield table
            after = int(table.version)
        give_back()
        if after != before:
            self.commits.record(after, "maintenance", {}, started)
