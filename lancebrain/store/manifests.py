"""The manifests of a table, a small file for each version, as Lance names and orders them."""

from __future__ import annotations

import os
import re
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

_HIGHEST = 2**64 - 1
_MANIFEST = re.compile(r"\d+\.manifest")
_DELETION = re.compile(r"\d+-\d+-(\d+)\.(?:arrow|bin)")
"""``{fragment}-{version}-{number}``."""
_TAIL = 20
# What a name ends with: the byte before it may look like a part of it.
_NAME = re.compile(rb"[0-9A-Za-z_-]{%d}\.(?:lance|txn)" % _TAIL)
# A deletion file's number: field 3, a varint. Any byte may look like the field's tag.
_NUMBER = re.compile(rb"(?=\x18([\x80-\xff]{0,9}[\x00-\x7f]))")


def manifest_file(table: Path, version: int) -> Path:
    """The manifest of a version: Lance counts its names down, so that the newest sorts first."""
    return table / "_versions" / f"{_HIGHEST - version:020d}.manifest"


def version_in(name: str) -> int | None:
    """The version whose manifest has this name, with or without folders; None if none has."""
    name = name.rpartition("/")[2]
    return _HIGHEST - int(name.partition(".")[0]) if _MANIFEST.fullmatch(name) else None


def newest_manifests(table: Path) -> list[Path]:
    """The manifests of a table, newest first; empty when there is no table."""
    return [manifest_file(table, version) for version in versions_of(table)]


def versions_of(table: Path) -> list[int]:
    """The versions of a table, newest first, by the names of their manifests alone."""
    versions = map(version_in, names_in(table / "_versions"))
    return sorted((version for version in versions if version is not None), reverse=True)


def names_in(folder: Path) -> list[str]:
    """The names in a folder, in no order; none where there is no folder. Quicker than paths: a week
    of edits has thousands of files."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except FileNotFoundError:
        return []


def made_at(table: Path) -> dict[int, datetime]:
    """The versions of a table, and when each was made; a week of edits has a thousand of them."""
    made: dict[int, datetime] = {}
    try:
        with os.scandir(table / "_versions") as entries:
            for entry in entries:
                version = version_in(entry.name)
                if version is not None:
                    with suppress(FileNotFoundError):  # cleaned up while we look
                        made[version] = datetime.fromtimestamp(entry.stat().st_mtime, UTC)
    except FileNotFoundError:
        return {}
    return made


def identity(table: Path, version: int) -> tuple[int, int, int] | None:
    """Tells a version also from one of the same number in a table built anew; None if gone."""
    try:
        stat = manifest_file(table, version).stat()
    except FileNotFoundError:
        return None
    return version, stat.st_ino, stat.st_mtime_ns


def named_in(content: bytes) -> set[str]:
    """The data and transaction files that a manifest names, each as :func:`ending_of` has it."""
    return {name.decode() for name in _NAME.findall(content)}


def ending_of(name: str) -> str:
    """The end of a data or transaction file's name, which tells it from all others."""
    return name[-_TAIL - len(name) + name.rfind(".") :]


def deletions_in(content: bytes) -> set[int]:
    """The numbers of the deletion files that a manifest names, and others that look like one."""
    return {_varint(found) for found in _NUMBER.findall(content)}


def deletion_of(name: str) -> int | None:
    """The number of a deletion file; None if that is not what it is."""
    found = _DELETION.fullmatch(name)
    return int(found[1]) if found else None


def index_of(name: str) -> bytes | None:
    """The number of the index whose folder this is, as a manifest has it; None if it is of none."""
    try:
        return uuid.UUID(name).bytes
    except ValueError:
        return None


def _varint(encoded: bytes) -> int:
    return sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(encoded))
