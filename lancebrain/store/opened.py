"""An index, opened: to read from, and to lock.

What writes to it is in ``table``.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from lancebrain.chunking import CHUNKING_VERSION
from lancebrain.errors import (
    IndexLockedError,
    IndexMismatchError,
    IndexNotFoundError,
    StoreError,
    UsageError,
)
from lancebrain.types import CommitRecord

from . import indices, replacement, tags
from .commit_log import CommitLog
from .connection import Connection, table_folder
from .failures import translated
from .folder_storage import FolderStorage
from .forgotten import Forgotten
from .handles import Handles
from .hold import Hold
from .planned import ModelPlan
from .recall import RecallNote
from .recovery import Recovered, drop_set_aside, lost_names, set_aside, torn_versions
from .schema import StoreInfo, new_info, table_schema
from .snapshot import Snapshot
from .storage import Storage, Where, storage_of
from .vector_cache import VectorCache

CREATED = 2
"""The version of a new, empty index: the first is dropped, as it has no full-text index."""
_CREATE_TIMEOUT_S = 60.0
_SETTLE_TIMEOUT_S = 10.0
"""Two renames take no longer."""


class OpenIndex:
    """An open index.

    Attributes:
        storage: where it is.
        folder: what this machine keeps of it; of an index in a folder, all.
        version: of the latest snapshot that was taken.
        recovered: what a power cut had torn and opening dropped.
        commits: why each version exists.
        vector_cache: vectors of texts whose rows may be gone.
        plan: the model that the index is to have, if it is another.
        staged: vectors of that model, until it is in use.
        hold: whether live sync rests.
        recall: of the vector index, as it was checked last.
        forgotten: documents that stay out.
    """

    def __init__(self, storage: Storage, *, read_only: bool = False) -> None:
        """Open what is there; use :meth:`open`, which says what may be wrong with it."""
        self.storage = storage
        self.folder = folder = storage.folder
        self.read_only = read_only
        self.commits = CommitLog(storage)
        self.vector_cache = VectorCache(folder, read_only=read_only)
        self.plan = ModelPlan(storage)
        self.staged = VectorCache(folder, name="next-vectors.sqlite", budget_bytes=None)
        self.hold = Hold(storage)
        self.recall = RecallNote(storage)
        self.forgotten = Forgotten(storage)
        self.recovered = Recovered() if read_only else _recovered(storage)
        self._lock = storage.lock()
        self._handles = Handles(storage, self._lock.check)
        self.version: int = self._handles.newest().version

    @staticmethod
    def exists(where: Where) -> bool:
        """Whether there is an index."""
        storage = storage_of(where)
        with translated(storage, "looking for it"):
            return storage.has_table() or replacement.is_ready(storage.folder)

    @classmethod
    def open(cls, where: Where, *, read_only: bool = False) -> Self:
        """Open an index.

        Args:
            where: its folder, or its storage.
            read_only: nothing will be written, so that the folder need not be writable.

        Raises:
            IndexNotFoundError: there is none.
            IndexMismatchError: it was made by a newer LanceBrain, or cut into chunks otherwise.
            StoreError: it is damaged or cannot be read.
        """
        storage = storage_of(where)
        if not cls.exists(storage):
            raise _not_found(storage)
        _settle(storage, read_only=read_only)
        with translated(storage, "opening it"):
            store = cls(storage, read_only=read_only)
        if store.info.chunking_version != CHUNKING_VERSION:
            raise IndexMismatchError(
                f"The index in {storage} was cut into chunks by version "
                f"{store.info.chunking_version}, this LanceBrain has {CHUNKING_VERSION}.",
                hint="Make a new index beside it: `lancebrain sync --index DIR FOLDER`.",
            )
        return store

    @classmethod
    def create(cls, where: Where, *, model: str, fingerprint: str, dim: int) -> Self:
        """Make an index; when another process was first, open that one.

        Args:
            where: the folder, or the storage, that it is to be in.

        Raises:
            StoreError: it cannot be written there.
        """
        storage = storage_of(where)
        storage.prepare()
        with storage.lock().held(_CREATE_TIMEOUT_S, alone=True):
            if not cls.exists(storage):
                schema = table_schema(
                    new_info(
                        model=model,
                        fingerprint=fingerprint,
                        dim=dim,
                        chunking_version=CHUNKING_VERSION,
                    )
                )
                # What is left of a table that was here before says nothing of this one.
                CommitLog(storage).clear()
                Hold(storage).clear()
                ModelPlan(storage).drop()
                RecallNote(storage).clear()
                with translated(storage, "creating it"):
                    # The full-text index is there before the first row, so that every version
                    # that anyone may go back to has one.
                    indices.build_full_text(Connection(storage).create(schema))
                    storage.drop_versions(range(1, CREATED))
        return cls.open(storage)

    @staticmethod
    def set_aside(where: Where, *, timeout_s: float) -> Path:
        """Move the table of a folder out of the way, to make a new one; nothing is deleted.

        Args:
            where: the index is.
            timeout_s: how long to wait for another holder of the lock.

        Returns:
            Where the table is now.

        Raises:
            IndexLockedError: another process is writing.
            StoreError: the folder cannot be written.
        """
        storage = storage_of(where)
        if not isinstance(storage, FolderStorage):
            raise StoreError(
                f"The table in {storage} cannot be read, and on object storage it cannot be moved "
                "out of the way.",
                hint="Name another prefix with --index, and delete this one.",
            )
        lock = storage.lock().held(timeout_s, alone=True)
        with lock, translated(storage, "moving the table aside"):
            return set_aside(storage.table)

    def drop_set_aside(self) -> int:
        """Delete the tables that were moved out of the way; how many. The caller holds the lock."""
        with self._writing("deleting tables that were set aside"):
            return drop_set_aside(table_folder(self.folder))

    def snapshot(self, version: int | None = None) -> Snapshot:
        """One version to read from: the newest of any process, or an older one.

        Raises:
            UsageError: there is no such version (any more).
            IndexNotFoundError: the index was deleted meanwhile.
        """
        if version is not None:
            self._check_exists(version)
            with self._step(f"opening version {version}"):
                return self._handles.older(version)
        try:
            latest = self._newest()
        except StoreError:
            if not replacement.is_ready(self.folder):
                raise
            _settle(self.storage, read_only=self.read_only)
            latest = self._newest()
        self.version = latest.version
        return latest

    @contextmanager
    def lock(self, timeout_s: float) -> Iterator[None]:
        """Hold the index lock: nobody else writes meanwhile. Reentrant within a thread.

        Raises:
            IndexLockedError: another holder kept it for longer than ``timeout_s``.
        """
        with ExitStack() as held:
            with self._step("taking the lock"):
                held.enter_context(self._lock.held(timeout_s))
            if not self._lock.is_nested:
                with self._step("finishing what was cut short"):
                    if replacement.is_there(self.folder):
                        with self._lock.alone():
                            replacement.settle(self.folder)
                    self._handles.follow()
                    if self._lock.is_fence_due and not self.read_only:
                        self._fence()
            try:
                yield
            finally:
                self._handles.expire()  # what was written is to be seen at once

    @property
    def info(self) -> StoreInfo:
        """What the index was built with."""
        return self._handles.info

    def versions(self) -> dict[int, datetime]:
        """The versions that can be read, and when each was made."""
        with self._step("listing its versions"):
            return self.storage.made_at()

    def tags(self) -> dict[str, int]:
        """Tags and the versions they name."""
        with self._step("reading its tags"), self._handles.probe() as table:
            return tags.read_tags(table)

    def bytes(self) -> int:
        """What the index takes on disk, or on object storage."""
        with self._step("counting what it takes"):
            return self.storage.bytes()

    def _fence(self) -> None:
        """Make what was begun under a lock that was taken over fail, whenever it goes on."""
        started = time.monotonic()
        version = self._handles.writer.fence()
        self._lock.fenced()
        self.commits.record(version, "maintenance", {}, started)

    @contextmanager
    def _writing(self, doing: str, *, alone: bool = True) -> Iterator[None]:
        """A step that writes.

        Args:
            alone: it must not be taken over, as it takes long, or does more than one commit.
        """
        if self.read_only:
            raise StoreError(
                f"The index in {self.storage} was opened for reading only.",
                hint="Make its folder writable, or name another one with --index.",
            )
        self._lock.check()
        try:
            with self._step(doing), self._lock.alone() if alone else nullcontext():
                yield
        except StoreError:
            self._lock.check()  # if it was taken over, that is why
            raise

    @contextmanager
    def _step(self, doing: str) -> Iterator[None]:
        """A step that fails with an error of ours; where the index is gone, with that."""
        try:
            with translated(self.storage, doing):
                yield
        except StoreError as error:
            if not self.exists(self.storage):
                raise _not_found(self.storage) from error
            raise

    def _newest(self) -> Snapshot:
        with self._step("looking for newer versions"):
            return self._handles.newest()

    def _check_exists(self, version: int) -> None:
        with self._step(f"looking for version {version}"):
            is_there = self.storage.identity(version) is not None
        if not is_there:
            if not self.exists(self.storage):
                raise _not_found(self.storage)
            raise UsageError(
                f"The index in {self.storage} has no version {version}.",
                hint="Choose one from `lancebrain history`.",
            )


def _settle(storage: Storage, *, read_only: bool) -> None:
    """See to a rewriting that was cut short, unless it is under way."""
    folder = storage.folder
    if not replacement.is_there(folder) or (read_only and not replacement.is_ready(folder)):
        return
    try:
        timeout_s = _SETTLE_TIMEOUT_S if replacement.is_ready(folder) else 0
        lock = storage.lock().held(timeout_s, alone=True)
        with lock, translated(storage, "finishing what was cut short"):
            replacement.settle(folder)
    except IndexLockedError:
        return  # its maker is at it


def _recovered(storage: Storage) -> Recovered:
    """Drop the versions and names that a power cut tore; under the lock, as others may be at it."""
    # None is torn that is elsewhere: objects are whole or not there.
    table = table_folder(storage.folder)
    if not torn_versions(table) and not lost_names(table, ()):
        return Recovered()
    with storage.lock().held(_SETTLE_TIMEOUT_S, alone=True):
        torn = torn_versions(table)
        names = lost_names(table, torn)
        recovered = Recovered(tuple(torn[::-1]), tuple(names))
        if recovered:
            _note(storage, f"a power cut tore {recovered} after it, dropped since", torn)
            for file in names.values():
                file.unlink(missing_ok=True)
            # Last: as long as they are there, all of this is done again, whatever cut it short.
            storage.drop_versions(torn)
        return recovered


def _note(storage: Storage, note: str, torn: Collection[int]) -> None:
    """Have the history tell it of the newest version that is not torn."""
    log = CommitLog(storage)
    made_at = {version: at for version, at in storage.made_at().items() if version not in torn}
    now = max(made_at)
    unknown = CommitRecord(now, "repair", made_at[now], 0.0)
    record = next((record for record in log.read() if record.version == now), unknown)
    if note not in record.note:
        log.append(replace(record, note="; ".join(filter(None, (record.note, note)))))


def _not_found(storage: Storage) -> IndexNotFoundError:
    return IndexNotFoundError(
        f"There is no index in {storage}.", hint="Make one with `lancebrain sync FOLDER`."
    )
