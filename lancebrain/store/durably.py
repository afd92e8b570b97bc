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
    before = set(_files(table))
    yield
    written = set(_files(table)) - before
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


def _files(table: Path) -> Iterator[str]:
    # Plain strings: every commit lists some hundreds of files twice.
    for name in _WRITTEN:
        for folder, _, files in os.walk(table / name):
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
