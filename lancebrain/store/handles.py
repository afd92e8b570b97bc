"""The open handles on an index folder's table, which follow it when another takes its place.

A table is replaced as a whole when documents are forgotten, and when a damaged one is built anew,
by this process or another. Its versions then count from 1 again, so that nothing that was cached
of the one before may be used any more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .connection import Connection, table_folder
from .manifests import identity
from .schema import StoreInfo
from .snapshot import Snapshot
from .writer import Writer

if TYPE_CHECKING:
    from .connection import Table


class Handles:
    """One handle that writes, one that looks for newer versions, and the newest snapshot's, which
    never moves. They share their caches.

    Args:
        folder: the index folder.
        may_write: see :class:`Writer`.

    Attributes:
        info: what the table was built with.
        writer: writes to it, under the index lock.
    """

    def __init__(self, folder: Path, may_write: Callable[[], None]) -> None:
        self._folder = folder
        self._may_write = may_write
        self._guard = threading.RLock()
        self._latest: Snapshot
        self._open()

    def newest(self) -> Snapshot:
        """The newest version of any process; cheap when it is the one from before."""
        with self.probe() as table:
            if identity(table_folder(self._folder), table.version) != self._latest.identity:
                self._latest = self._snapshot()
            return self._latest

    def older(self, version: int) -> Snapshot:
        """An older version, by a handle of its own."""
        self.follow()
        table = self._connection.open()
        table.checkout(version)
        return Snapshot(table, self._folder, None)

    @contextmanager
    def probe(self) -> Iterator[Table]:
        """The table at its newest version, to ask about it."""
        with self._guard:
            self.follow()
            self._probe.checkout_latest()
            yield self._probe

    def follow(self) -> None:
        """Open everything anew if another table took the place of this one."""
        with self._guard:
            there = _place(self._folder)
            if there is not None and there != self._opened:
                self._open()

    def _open(self) -> None:
        self._opened = _place(self._folder)
        self._connection = Connection(self._folder)
        self.writer = Writer(table_folder(self._folder), self._connection, self._may_write)
        self._probe = self._connection.open()
        self._latest = self._snapshot()

    def _snapshot(self) -> Snapshot:
        snapshot = Snapshot(self._connection.open(), self._folder, self._reopened)
        self.info: StoreInfo = snapshot.info
        return snapshot

    def _reopened(self) -> Table:
        self.follow()
        return self._connection.open()


def _place(folder: Path) -> tuple[int, int] | None:
    """Tells a table's folder from another in the same place; None where there is none."""
    try:
        status = table_folder(folder).stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
