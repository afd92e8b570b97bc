"""Where an index is: in a folder, or on object storage. The one place that knows how they differ.

Everything above works with a :class:`Storage` and does not ask which it is: files beside the
table, the versions that there are, and the lock that makes one commit at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from .reentrant import WriteLock


class Storage(Protocol):
    """Where one index is; as a string, what a person calls it.

    Attributes:
        folder: what this machine keeps of it: of an index in a folder that is all of it, of one
            on object storage its vector cache and what was seen of the files here.
        uri: what LanceDB is told to connect to, and the folder of the table for Lance.
        options: for both, such as an endpoint and credentials.
        is_shared: several machines use it.
    """

    is_shared: bool

    @property
    def folder(self) -> Path: ...

    @property
    def uri(self) -> str: ...

    @property
    def options(self) -> Mapping[str, str]: ...

    def prepare(self) -> None:
        """Make ready for a new index.

        Raises:
            StoreError: it cannot be one that several processes write to.
        """

    def lock(self) -> WriteLock:
        """The lock that makes look, plan and commit one step."""

    def is_due(self, asked_at: float) -> bool:
        """Whether what was asked at this time of ``time.monotonic()`` is to be asked again."""

    def read(self, name: str, start: int = 0) -> bytes | None:
        """A file beside the table, from a byte on; None where there is none."""

    def write(self, name: str, text: str) -> None:
        """Replace a file beside the table: a reader sees the old one or the new one. Durable when
        this returns. The caller holds the lock."""

    def append(self, name: str, line: str) -> None:
        """Add a line to a file beside the table. The caller holds the lock."""

    def remove(self, name: str) -> None:
        """Remove a file beside the table, if it is there. The caller holds the lock."""

    def has_table(self) -> bool:
        """Whether there is a table."""

    def table_identity(self) -> Hashable | None:
        """Tells the table from another in the same place; None where there is none, or where one
        cannot take the place of another."""

    def made_at(self) -> dict[int, datetime]:
        """The versions of the table, and when each was made."""

    def identity(self, version: int) -> Hashable | None:
        """Tells a version also from one of the same number in a table built anew; None if gone."""

    def drop_versions(self, versions: Iterable[int]) -> None:
        """Remove the manifests of versions. Each removal leaves a whole table, so it may be cut
        short anywhere. The caller holds the lock."""

    def collect(self, *, fragments: int) -> int:
        """Delete what belongs to no version; how many files and indices went.

        The caller holds the lock.

        Args:
            fragments: of the newest version, as a check of what is read.
        """

    def written(self, version: Callable[[], int]) -> AbstractContextManager[None]:
        """What the block writes to the table outlives a power cut when it ends.

        Args:
            version: tells which one the table is at.
        """

    def bytes(self) -> int:
        """What everything takes."""


Where = Path | Storage
"""A folder stands for the index in it."""


def storage_of(where: Where) -> Storage:
    """The storage of an index, which a folder stands for."""
    from .folder_storage import FolderStorage

    return FolderStorage(where) if isinstance(where, Path) else where


def storage_at(
    folder: Path, uri: str | None, options: Mapping[str, str], *, refresh_s: float
) -> Storage:
    """The storage of the index that settings name.

    Args:
        folder: of the index, or of what this machine keeps of one that is elsewhere.
        uri: where it is, if it is not in the folder.
        options: for Lance and LanceDB, if it is not in the folder.
        refresh_s: how old what is read of it may be, if it is not in the folder.

    Raises:
        StoreError: what it takes for such a place is not installed, or its name is wrong.
    """
    from .folder_storage import FolderStorage

    if uri is None:
        return FolderStorage(folder)
    from .object_storage import ObjectStorage

    return ObjectStorage(uri, options, folder, refresh_s=refresh_s)
