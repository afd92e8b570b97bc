"""What a crash can leave behind, put right before the table is opened.

Lance makes a version by renaming a manifest into place and does not wait for the disk. So a
power cut can leave the newest manifest empty, or whole while the data it refers to is not.
The version before is the table then.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from .manifests import (
    deletion_of,
    deletions_in,
    ending_of,
    index_of,
    manifest_file,
    named_in,
    names_in,
    versions_of,
)

_ASIDE = ".damaged-"
_FILE_END = b"LANC"
"""What a manifest and a data file end with."""
_ARROW_END = b"ARROW1"
"""What a file of Arrow's IPC ends with, as the ids of a few deleted rows are kept."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a power cut tore and was dropped.

    Attributes:
        versions: their numbers, which the next commits get.
        checkpoints: the names of those, and names that were torn themselves.
    """

    versions: tuple[int, ...] = ()
    checkpoints: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.versions or self.checkpoints)

    def __str__(self) -> str:
        return " and ".join(
            f"{what}{'s' * (len(names) > 1)} {', '.join(map(str, names))}"
            for what, names in (("version", self.versions), ("checkpoint", self.checkpoints))
            if names
        )


def torn_versions(table: Path) -> list[int]:
    """The newest versions as far as they are torn, newest first; none where none is whole.

    A version is torn when its manifest is, or what it added to the version before. Damage to a
    file that older versions have, too, is none of a power cut, and no reason to go back.

    Args:
        table: the table's folder.
    """
    torn: list[int] = []
    versions = versions_of(table)
    for version, before in zip_longest(versions, versions[1:]):
        if _is_whole(table, version, before):
            return torn
        torn.append(version)
    return []


def lost_names(table: Path, versions: Collection[int]) -> dict[str, Path]:
    """The names of these versions, and those that a power cut tore, so that they name none; each
    with its file.

    The next commits get the numbers of versions that are dropped, and must not get their names.
    """
    named = _named(table)
    return {file.stem: file for file, version in named if version is None or version in versions}


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


def _named(table: Path) -> Iterator[tuple[Path, int | None]]:
    """The files of names, in order, and the version that each is of; None where it is torn."""
    for file in sorted((table / "_refs" / "tags").glob("*.json")):
        try:
            yield file, int(json.loads(file.read_bytes())["version"])
        except FileNotFoundError:
            continue  # taken away by another process while we look
        except (ValueError, KeyError, TypeError):
            yield file, None


def _is_whole(table: Path, version: int, before: int | None) -> bool:
    content = _content(manifest_file(table, version))
    if not content.endswith(_FILE_END):
        return False
    known = b"" if before is None else _content(manifest_file(table, before))
    return (
        _is_data_whole(table, named_in(content) - named_in(known))
        and _are_indices_whole(table, content, known)
        and _are_deletions_whole(table, deletions_in(content) - deletions_in(known))
    )


def _is_data_whole(table: Path, names: Collection[str]) -> bool:
    """Whether the data files among these are there and whole."""
    added = {name for name in names if name.endswith(".lance")}
    there = [name for name in names_in(table / "data") if ending_of(name) in added]
    return {ending_of(name) for name in there} == added and all(
        _ends_well(table / "data" / name) for name in there
    )


def _are_indices_whole(table: Path, content: bytes, known: bytes) -> bool:
    """Whether the indices are whole that a manifest names and the one before does not."""
    folders = (
        table / "_indices" / name
        for name in names_in(table / "_indices")
        if (number := index_of(name)) is not None and number in content and number not in known
    )
    return all(_ends_well(file) for folder in folders for file in folder.rglob("*.lance"))


def _content(manifest: Path) -> bytes:
    try:
        return manifest.read_bytes()
    except FileNotFoundError:
        return b""  # cleaned up by another process while we look


def _are_deletions_whole(table: Path, numbers: Collection[int]) -> bool:
    """Those of these numbers that are there; a write that failed leaves other files, which belong
    to no version, and other bytes of a manifest may look like a number."""
    folder = table / "_deletions"
    there = [name for name in names_in(folder) if deletion_of(name) in numbers]
    return all(_is_deletion_whole(folder / name) for name in there)


def _is_deletion_whole(file: Path) -> bool:
    content = file.read_bytes()
    return content.endswith(_ARROW_END) if file.suffix == ".arrow" else bool(content)


def _ends_well(file: Path) -> bool:
    with file.open("rb") as data:
        size = data.seek(0, 2)
        data.seek(max(0, size - len(_FILE_END)))
        return data.read() == _FILE_END
