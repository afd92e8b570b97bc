"""Waiting for the disk, which Lance does not: what was acknowledged outlives a power cut."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .manifests import manifest_file

_WRITTEN = ("data", "_deletions", "_indices")


@contextmanager
def on_disk(table: Path, version: Callable[[], int]) -> Iterator[None]:
    """What the block writes to a table is on the disk when it ends.

    Args:
        table: the table's folder.
        version: tells which one the table is at.
    """
    first = version()
    before = _entries(table)
    yield
    written = {file for entry in _entries(table) - before for file in _files(entry)}
    versions = range(first + 1, version() + 1)
    manifests = {str(manifest_file(table, number)) for number in versions}
    # First what the manifests refer to, then the manifests, then the names of both.
    for file in written:
        # One whose lock was taken over may be writing too, and take its files away again.
        with suppress(FileNotFoundError):
            sync_to_disk(file)
    for file in manifests:
        sync_to_disk(file)
    for folder in {Path(file).parent for file in written | manifests}:
        with suppress(FileNotFoundError):
            sync_to_disk(folder)


def _entries(table: Path) -> set[str]:
    """What there is in the folders that a commit writes to; nothing in it changes afterwards.

    A week of edits leaves thousands, and every commit lists them twice: hence by name alone.
    """
    entries: set[str] = set()
    for name in _WRITTEN:
        with suppress(FileNotFoundError), os.scandir(table / name) as there:
            entries.update(entry.path for entry in there)
    return entries


def _files(entry: str) -> Iterator[str]:
    """The files in a folder, as an index is one, or the file itself."""
    if not Path(entry).is_dir():
        yield entry
    for folder, _, files in os.walk(entry):
        yield from (f"{folder}{os.sep}{file}" for file in files)


def sync_to_disk(path: Path | str) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name != "posix" and Path(path).is_dir():
        return  # a folder cannot be opened there
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
