"""What a crash can leave behind, put right before the table is opened.

Lance makes a version by renaming a manifest into place and does not wait for the disk. So a
power cut can leave the newest manifest empty, or whole while the data it refers to is not.
The version before is the table then.
"""

from __future__ import annotations

import shutil
from itertools import zip_longest
from pathlib import Path

from .manifests import newest_manifests, version_of

_ASIDE = ".damaged-"
_FILE_END = b"LANC"
"""What a manifest and a data file end with."""


def drop_torn_versions(table: Path) -> list[int]:
    """Remove the newest versions as far as they are torn, and return these.

    Going back is safe, whatever was lost: the next sync finds the files that differ.

    Args:
        table: the table's folder.

    Returns:
        Versions removed; none where no whole one would remain.

    Raises:
        OSError: the folder may not be written.
    """
    torn: list[Path] = []
    manifests = newest_manifests(table)
    for manifest, before in zip_longest(manifests, manifests[1:]):
        if _is_whole(table, manifest, before):
            for file in torn:
                file.unlink(missing_ok=True)
            return [version_of(file) for file in torn]
        torn.append(manifest)
    return []


def set_aside(table: Path) -> Path:
    """Move a table that cannot be read out of the way, so that a new one can be made.

    Returns:
        Where it is now; nothing of it is deleted.

    Raises:
        OSError: the folder may not be written.
    """
    number = 1
    while (aside := table.with_name(f"{table.name}{_ASIDE}{number}")).exists():
        number += 1
    return table.rename(aside)


def drop_set_aside(table: Path) -> int:
    """Delete what was moved out of the way; how many tables that were.

    Raises:
        OSError: the folder may not be written.
    """
    aside = list(table.parent.glob(f"{table.name}{_ASIDE}*"))
    for folder in aside:
        shutil.rmtree(folder)
    return len(aside)


def _is_whole(table: Path, manifest: Path, before: Path | None) -> bool:
    """Whether a manifest, and the data it adds to the one before, was written out."""
    content = manifest.read_bytes()
    if not content.endswith(_FILE_END):
        return False
    since = before.stat().st_mtime if before else 0.0
    files = (file for file in (table / "data").glob("*.lance") if file.stat().st_mtime >= since)
    # A manifest holds the names of its data files; others are leftovers of a killed writer.
    return all(_ends_well(file) for file in files if file.name.encode() in content)


def _ends_well(file: Path) -> bool:
    with file.open("rb") as data:
        size = data.seek(0, 2)
        data.seek(max(0, size - len(_FILE_END)))
        return data.read() == _FILE_END
