"""An index in a folder: files beside the table, an OS lock, and what a power cut leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from .beside import write_beside
from .connection import table_folder
from .durably import on_disk
from .failures import translated
from .garbage import collect
from .lock import IndexLock
from .manifests import identity, made_at, manifest_file, versions_of


class FolderStorage:
    """The storage of an index in a folder, see :class:`lancebrain.store.storage.Storage`."""

    is_shared = False
    options: Mapping[str, str] = MappingProxyType({})

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table = table_folder(folder)

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def uri(self) -> str:
        return str(self.folder)

    def prepare(self) -> None:
        with translated(self, "making the folder"):
            self.folder.mkdir(parents=True, exist_ok=True)

    def lock(self) -> IndexLock:
        return IndexLock(self.folder)

    def is_due(self, asked_at: float) -> bool:
        return True

    def read(self, name: str, start: int = 0) -> bytes | None:
        try:
            with (self.folder / name).open("rb") as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, name: str, text: str) -> None:
        write_beside(self.folder, name, text)

    def append(self, name: str, line: str) -> None:
        with (self.folder / name).open("ab+") as file:
            # A line that a crash tore has no end: close it, so that it spoils only itself.
            torn = file.seek(0, 2) > 0 and file.seek(-1, 2) >= 0 and file.read(1) != b"\n"
            file.write((b"\n" if torn else b"") + line.encode())

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def has_table(self) -> bool:
        return bool(versions_of(self.table))

    def table_identity(self) -> Hashable | None:
        try:
            status = self.table.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def made_at(self) -> dict[int, datetime]:
        return made_at(self.table)

    def identity(self, version: int) -> Hashable | None:
        return identity(self.table, version)

    def drop_versions(self, versions: Iterable[int]) -> None:
        for version in versions:
            manifest_file(self.table, version).unlink(missing_ok=True)

    def collect(self, *, fragments: int) -> int:
        return collect(self.table, fragments=fragments)

    def written(self, version: Callable[[], int]) -> AbstractContextManager[None]:
        return on_disk(self.table, version)

    def bytes(self) -> int:
        total = 0
        for file in self.folder.rglob("*"):
            try:
                total += file.lstat().st_size
            except FileNotFoundError:
                continue  # cleaned up by another process while we count
        return total
