"""What a crash can leave behind, put right before the table is opened.

Lance makes a version by renaming a manifest into place and does not wait for the disk, so that
a power cut can leave the newest manifest empty. Nothing was acknowledged for it: the version
before is the table.
"""

from __future__ import annotations

from pathlib import Path

_HIGHEST = 2**64 - 1


def manifest_file(table: Path, version: int) -> Path:
    """The manifest of a version: Lance counts its names down, so that the newest sorts first."""
    return table / "_versions" / f"{_HIGHEST - version:020d}.manifest"


def newest_manifests(table: Path) -> list[Path]:
    """The manifests of a table, newest first; empty when there is no table."""
    try:
        return sorted((table / "_versions").glob("*.manifest"))
    except OSError:
        return []


def drop_empty_manifests(table: Path) -> list[Path]:
    """Remove manifests of no bytes from the newest on, and return what was removed.

    At least one manifest with content must remain; else nothing is touched.

    Raises:
        OSError: the folder may not be written.
    """
    empty: list[Path] = []
    for manifest in newest_manifests(table):
        if manifest.stat().st_size > 0:
            for file in empty:
                file.unlink()
            return empty
        empty.append(manifest)
    return []
