"""An index folder, opened: to read from, and to lock.

What writes to it is in ``table``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
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

from . import indices, replacement, tags
from .commit_log import CommitLog
from .connection import Connection, table_folder
from .failures import translated
from .forgotten import Forgotten
from .handles import Handles
from .hold import Hold
from .lock import IndexLock
from .manifests import made_at, manifest_file, newest_manifests
from .planned import ModelPlan
from .recovery import drop_set_aside, drop_torn_versions, set_aside, torn_versions
from .retention import drop_versions
from .schema import StoreInfo, new_info, table_schema
from .snapshot import Snapshot
from .vector_cache import VectorCache

CREATED = 2
"""The version of a new, empty index: the first is dropped, as it has no full-text index."""
_CREATE_TIMEOUT_S = 60.0
_SETTLE_TIMEOUT_S = 10.0
"""Two renames take no longer."""


class OpenIndex:
    """An open index.

    Attributes:
        folder: the index folder.
        version: of the latest snapshot that was taken.
        recovered: versions that a power cut had torn and that opening dropped.
        commits: why each version exists.
        vector_cache: vectors of texts whose rows may be gone.
        plan: the model that the index is to have, if it is another.
        staged: vectors of that model, until it is in use.
        hold: whether live sync rests.
        forgotten: documents that stay out.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        """Open what is there; use :meth:`open`, which says what may be wrong with it."""
        self.folder = folder
        self.read_only = read_only
        self.commits = CommitLog(folder)
        self.vector_cache = VectorCache(folder)
        self.plan = ModelPlan(folder)
        self.staged = VectorCache(folder, name="next-vectors.sqlite", budget_bytes=None)
        self.hold = Hold(folder)
        self.forgotten = Forgotten(folder)
        self.recovered = [] if read_only else _recovered(folder)
        self._lock = IndexLock(folder)
        self._handles = Handles(folder, self._lock.check)
        self.version: int = self._handles.newest().version

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether there is an index in the folder."""
        return bool(newest_manifests(table_folder(folder))) or replacement.is_ready(folder)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Self:
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
        _settle(folder, read_only=read_only)
        with translated(folder, "opening it"):
            store = cls(folder, read_only=read_only)
        if store.info.chunking_version != CHUNKING_VERSION:
            raise IndexMismatchError(
                f"The index in {folder} was cut into chunks by version "
                f"{store.info.chunking_version}, this LanceBrain has {CHUNKING_VERSION}.",
                hint="Make a new index beside it: `lancebrain sync --index DIR FOLDER`.",
            )
        return store

    @classmethod
    def create(cls, folder: Path, *, model: str, fingerprint: str, dim: int) -> Self:
        """Make an index in the folder; when another process was first, open that one.

        Raises:
            StoreError: the folder cannot be written.
        """
        with translated(folder, "making the folder"):
            folder.mkdir(parents=True, exist_ok=True)
        with IndexLock(folder).held(_CREATE_TIMEOUT_S, alone=True):
            if not cls.exists(folder):
                schema = table_schema(
                    new_info(
                        model=model,
                        fingerprint=fingerprint,
                        dim=dim,
                        chunking_version=CHUNKING_VERSION,
                    )
                )
                # What is left of a table that was here before says nothing of this one.
                CommitLog(folder).clear()
                Hold(folder).clear()
                ModelPlan(folder).drop()
                with translated(folder, "creating it"):
                    # The full-text index is there before the first row, so that every version
                    # that anyone may go back to has one.
                    indices.build_full_text(Connection(folder).create(schema))
                    drop_versions(table_folder(folder), range(1, CREATED))
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
        lock = IndexLock(folder).held(timeout_s, alone=True)
        with lock, translated(folder, "moving the table aside"):
            return set_aside(table_folder(folder))

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
            with translated(self.folder, f"opening version {version}"):
                return self._handles.older(version)
        try:
            latest = self._newest()
        except StoreError:
            if not self.exists(self.folder):
                raise _not_found(self.folder) from None
            if not replacement.is_ready(self.folder):
                raise
            _settle(self.folder, read_only=self.read_only)
            latest = self._newest()
        self.version = latest.version
        return latest

    @contextmanager
    def lock(self, timeout_s: float) -> Iterator[None]:
        """Hold the index lock: nobody else writes meanwhile. Reentrant within a thread.

        Raises:
            IndexLockedError: another holder kept it for longer than ``timeout_s``.
        """
        with self._lock.held(timeout_s):
            if not self._lock.is_nested:
                with translated(self.folder, "finishing what was cut short"):
                    if replacement.is_there(self.folder):
                        with self._lock.alone():
                            replacement.settle(self.folder)
                    self._handles.follow()
                    if self._lock.is_fence_due and not self.read_only:
                        self._fence()
            yield

    @property
    def info(self) -> StoreInfo:
        """What the index was built with."""
        return self._handles.info

    def versions(self) -> dict[int, datetime]:
        """The versions that can be read, and when each was made."""
        with translated(self.folder, "listing its versions"):
            return made_at(table_folder(self.folder))

    def tags(self) -> dict[str, int]:
        """Tags and the versions they name."""
        with translated(self.folder, "reading its tags"), self._handles.probe() as table:
            return tags.read_tags(table)

    def bytes(self) -> int:
        """What the index folder takes on disk."""
        total = 0
        for file in self.folder.rglob("*"):
            try:
                total += file.lstat().st_size
            except FileNotFoundError:
                continue  # cleaned up by another process while we count
        return total

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
                f"The index in {self.folder} was opened for reading only.",
                hint="Make its folder writable, or name another one with --index.",
            )
        self._lock.check()
        try:
            with translated(self.folder, doing), self._lock.alone() if alone else nullcontext():
                yield
        except StoreError:
            self._lock.check()  # if it was taken over, that is why
            raise

    def _newest(self) -> Snapshot:
        with translated(self.folder, "looking for newer versions"):
            return self._handles.newest()

    def _check_exists(self, version: int) -> None:
        if not manifest_file(table_folder(self.folder), version).exists():
            raise UsageError(
                f"The index in {self.folder} has no version {version}.",
                hint="Choose one from `lancebrain history`.",
            )


def _settle(folder: Path, *, read_only: bool) -> None:
    """See to a rewriting that was cut short, unless it is under way."""
    if not replacement.is_there(folder) or (read_only and not replacement.is_ready(folder)):
        return
    try:
        timeout_s = _SETTLE_TIMEOUT_S if replacement.is_ready(folder) else 0
        lock = IndexLock(folder).held(timeout_s, alone=True)
        with lock, translated(folder, "finishing what was cut short"):
            replacement.settle(folder)
    except IndexLockedError:
        return  # its maker is at it


def _recovered(folder: Path) -> list[int]:
    """Drop the versions that a power cut tore; under the lock, as others may be at it."""
    if not torn_versions(table_folder(folder)):
        return []
    with IndexLock(folder).held(_SETTLE_TIMEOUT_S, alone=True):
        return drop_torn_versions(table_folder(folder))


def _not_found(folder: Path) -> IndexNotFoundError:
    return IndexNotFoundError(
        f"There is no index in {folder}.", hint="Make one with `lancebrain sync FOLDER`."
    )
