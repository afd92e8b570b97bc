"""A table that was built beside the old one takes its place, in two renames.

Whoever is killed leaves the new folder behind. While it is not marked as ready, the old table is
the index, and the folder is thrown away; once it is, the new one is, and the next to take the
lock finishes the renames.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from .connection import table_folder
from .durably import sync_to_disk

_NEW = "rewriting"
_OLD = "rewriting.old"
_READY = "ready"


def new_folder(folder: Path) -> Path:
    """Where the new table of an index folder is built, and the files that go beside it."""
    return folder / _NEW


def make_ready(new: Path) -> None:
    """From here on the table in the new folder is the index; durable when this returns."""
    for place in (*new.rglob("*"), new):
        sync_to_disk(place)
    (new / _READY).touch()
    sync_to_disk(new / _READY)
    sync_to_disk(new)


def is_there(folder: Path) -> bool:
    """Whether a new table is being built in an index folder, or that was cut short."""
    return (folder / _NEW).exists() or (folder / _OLD).exists()


def is_ready(folder: Path) -> bool:
    """Whether the new table is the index, though not in its place yet."""
    return (folder / _NEW / _READY).exists()


def settle(folder: Path) -> None:
    """Put a new table in its place if it is ready, else throw it away; the caller holds the
    lock."""
    new, old = folder / _NEW, folder / _OLD
    if is_ready(folder):
        _take_place(folder)
    for leftover in (new, old):
        if leftover.exists():
            shutil.rmtree(leftover)


def _take_place(folder: Path) -> None:
    """Each step can be the last one, and is skipped when it was done."""
    new, old = folder / _NEW, folder / _OLD
    table = table_folder(folder)
    if table_folder(new).exists():
        if table.exists():
            if old.exists():
                shutil.rmtree(old)
            table.rename(old)
        table_folder(new).rename(table)
    for file in new.iterdir():
        if file.name != _READY:
            file.replace(folder / file.name)
    sync_to_disk(folder)
    (new / _READY).unlink()
