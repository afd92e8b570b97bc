"""Deleting files of the table that belong to no version.

LanceDB does this only together with a compaction of the whole table. A manifest names everything
that its version is made of: data files and transactions by their names, deletion files by their
numbers and indices by theirs (``table.proto`` of the Lance format), so that what no manifest
mentions belongs to no version.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from lancebrain.errors import StoreError

from .manifests import deletion_of, deletions_in, ending_of, named_in, newest_manifests


def collect(table: Path, *, fragments: int) -> int:
    """Delete what belongs to no version; the index lock must be held, since files of a write that
    is under way belong to none yet.

    Args:
        table: the table's folder.
        fragments: of the newest version, as a check of what is read here.

    Returns:
        How many files and indices went.

    Raises:
        StoreError: the manifests do not name what they are known to name; nothing is deleted.
    """
    manifests = newest_manifests(table)
    contents = [manifest.read_bytes() for manifest in manifests]
    if sum(name.endswith(".lance") for name in named_in(contents[0])) < fragments:
        raise StoreError(
            f"The manifests of {table} are not as this LanceBrain knows them; nothing is deleted.",
            hint="Install the LanceDB that LanceBrain asks for.",
        )
    names = set().union(*map(named_in, contents))
    deletions = set().union(*map(deletions_in, contents))
    lost = [
        file
        for folder in ("data", "_transactions")
        for file in _files(table / folder)
        if ending_of(file) not in names
    ]
    lost += (file for file in _files(table / "_deletions") if deletion_of(file) not in deletions)
    lost += (file for file in _files(table / "_versions") if file.name.startswith(".tmp"))
    indices = [
        folder
        for folder in _folders(table / "_indices")
        if not any(uuid.UUID(folder.name).bytes in content for content in contents)
    ]
    for file in lost:
        file.unlink(missing_ok=True)
    for folder in indices:
        shutil.rmtree(folder)
    return len(lost) + len(indices)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _folders(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob("*")) if path.is_dir())
