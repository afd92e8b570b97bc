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


def version_of(manifest: Path) -> int:
    """The version whose manifest this is."""
    return _HIGHEST - int(manifest.stem)


def newest_manifests(table: Path) -> list[Path]:
    """The manifests of a table, newest first; empty when there is no table."""
    manifests = (table / "_versions").glob("*.manifest")
    return sorted(manifest for manifest in manifests if manifest.stem.isdigit())


def drop_empty_manifests(table: Path) -> list[Path]:
    """Remove the manifests of no bytes that are newer than the newest with content.

    Returns:
        What was removed; nothing where no manifest has content.

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
