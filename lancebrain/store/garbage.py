"""Deleting files of the table that belong to no version.

LanceDB does this only together with a compaction of the whole table. A manifest names everything
that its version is made of: data files and transactions by their names, deletion files by their
numbers and indices by theirs (``table.proto`` of the Lance format), so that what no manifest
mentions belongs to no version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lancebrain.errors import StoreError

from .manifests import (
    deletion_of,
    deletions_in,
    ending_of,
    index_of,
    named_in,
    newest_manifests,
)


def collect(table: Path, *, fragments: int) -> int:
    """Delete what belongs to no version; the index lock must be held, since files of a write that
    is under way belong to none yet.

    Args:
        table: the table's folder.
        fragments: of the newest version, as a check of what is read here.

    Returns:
        How many files went.

    Raises:
        StoreError: the manifests do not name what they are known to name; nothing is deleted.
    """
    there = [path.relative_to(table).as_posix() for path in table.rglob("*") if path.is_file()]
    contents = [manifest.read_bytes() for manifest in newest_manifests(table)]
    gone = lost(there, contents, where=table, fragments=fragments)
    for name in gone:
        (table / name).unlink(missing_ok=True)
    for folder in {(table / name).parent for name in gone if name.startswith("_indices/")}:
        if not any(folder.iterdir()):
            folder.rmdir()
    return len(gone)


def lost(
    there: Iterable[str], contents: Sequence[bytes], *, where: object, fragments: int
) -> list[str]:
    """The files of a table that belong to no version.

    Args:
        there: all files, by their names within the table.
        contents: of the manifests, the newest first.
        where: the table is, for messages.
        fragments: of the newest version, as a check of what is read here.

    Raises:
        StoreError: the manifests do not name what they are known to name.
    """
    if sum(name.endswith(".lance") for name in named_in(contents[0])) < fragments:
        raise StoreError(
            f"The manifests of {where} are not as this LanceBrain knows them; nothing is deleted.",
            hint="Install the LanceDB that LanceBrain asks for.",
        )
    names = set().union(*map(named_in, contents))
    deletions = set().union(*map(deletions_in, contents))

    def is_lost(name: str) -> bool:
        file = Path(name)
        match file.parts[0]:
            case "data" | "_transactions":
                return ending_of(file.name) not in names
            case _ if file.name.startswith(".tmp"):
                return True  # of a write that was killed
            case "_deletions":
                deletion = deletion_of(file.name)
                return deletion is not None and deletion not in deletions
            case "_indices":
                index = index_of(file.parts[1])
                return index is not None and not any(index in content for content in contents)
        return False

    return sorted(filter(is_lost, there))
