"""The open handles on an index's table, which follow it when another takes its place.

A table is replaced as a whole when documents are forgotten, and when a damaged one is built anew,
by this process or another. Its versions then count from 1 again, so that nothing that was cached
of the one before may be used any more. Nor may it where versions that a power cut tore were
dropped: the next commits get the numbers of those, of their pieces and of their rows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .connection import Connection
from .schema import StoreInfo
from .snapshot import Snapshot
from .writer import Writer

if TYPE_CHECKING:
    from .connection import Table
    from .reading import Reading
    from .storage import Storage


_SEEN_WITH_ONE = 200
"""Versions that one connection sees. Its cache keeps the files open of every index that a question
was asked of, also after they were deleted."""


class Handles:
    """One handle that writes, one that asks what a writer needs to know, and the newest snapshot's,
    which never moves. The first two are opened when they are needed.

    Args:
        storage: of the index.
        may_write: see :class:`Writer`.

    Attributes:
        info: what the table was built with.
        writer: writes to it, under the index lock.
    """

    def __init__(self, storage: Storage, may_write: Callable[[], None]) -> None:
        self._storage = storage
        self._may_write = may_write
        self._guard = threading.RLock()
        self._asked_at: float | None = None
        self._seen = 0
        self._probe: Table | None = None
        self._latest: Snapshot
        self._open()

    def newest(self) -> Snapshot:
        """The newest version of any process; cheap when it is the one from before."""
        with self._guard:
            asked_at = time.monotonic()
            if self._asked_at is None or self._storage.is_due(self._asked_at):
                self.follow()
                newest = self._connection.newest_version()
                if newest < self._latest.version:
                    self._open()
                elif self._storage.identity(newest) != self._latest.identity:
                    self._see_newest()
                self._asked_at = asked_at
            return self._latest

    def _see_newest(self) -> None:
        self._seen += 1
        if self._seen % _SEEN_WITH_ONE == 0:
            self._open()
        else:
            table_id = self.info.table_id
            self._latest = self._snapshot()
            if self.info.table_id != table_id:  # what is kept is of the table before
                self._open()

    def expire(self) -> None:
        """Ask for the newest version the next time, however lately that was done."""
        with self._guard:
            self._asked_at = None

    def older(self, version: int) -> Snapshot:
        """An older version, by a handle of its own."""
        self.follow()
        return Snapshot(self._connection.open_reading(version), self._storage, None)

    @contextmanager
    def probe(self) -> Iterator[Table]:
        """The table at its newest version, to ask about it."""
        self._connection.load_writer()  # takes seconds once, in which nobody waits for the guard
        with self._guard:
            self.follow()
            if self._probe is None:
                self._probe = self._connection.open()
            self._probe.checkout_latest()
            yield self._probe

    def follow(self) -> None:
        """Open everything anew if another table took the place of this one, or another version
        that of the newest one known."""
        with self._guard:
            there = self._storage.table_identity()
            if (there is not None and there != self._opened) or self._is_another_version():
                self._open()

    def _is_another_version(self) -> bool:
        if self._storage.is_shared:  # where each version is whole, and none is dropped
            return False
        identity = self._storage.identity(self._latest.version)
        return identity is not None and identity != self._latest.identity

    def _open(self) -> None:
        self._asked_at = None
        self._opened = self._storage.table_identity()
        self._connection = Connection(self._storage)
        self.writer = Writer(self._storage, self._connection, self._may_write)
        self._probe = None
        self._latest = self._snapshot()

    def _snapshot(self) -> Snapshot:
        snapshot = Snapshot(self._connection.open_reading(), self._storage, self._reopened)
        self.info: StoreInfo = snapshot.info
        return snapshot

    def _reopened(self) -> Reading:
        self.follow()
        return self._connection.open_reading()
