"""Why each version exists: one JSON line a commit, beside the table.

The table is the truth and this only annotates it: a version without a line is a version without
a reason, and a line is worth nothing without its version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lancebrain.types import CommitRecord

from .failures import translated


class CommitLog:
    """The append-only log of one index folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "commits.jsonl"

    def append(self, record: CommitRecord) -> None:
        """Add a record; the caller holds the index lock."""
        line = json.dumps(_line_of(record), ensure_ascii=False, separators=(",", ":"))
        with translated(self._folder, "writing the commit log"), self._file.open("ab+") as log:
            # A line that a crash tore has no end: close it, so that it spoils only itself.
            torn = log.seek(0, 2) > 0 and log.seek(-1, 2) >= 0 and log.read(1) != b"\n"
            log.write((b"\n" if torn else b"") + line.encode() + b"\n")

    def read(self) -> list[CommitRecord]:
        """All records, oldest first; of two for one version, the later one."""
        with translated(self._folder, "reading the commit log"):
            try:
                lines = self._file.read_bytes().splitlines()
            except FileNotFoundError:
                return []
        records = (record for line in lines if (record := _record_of(line)) is not None)
        by_version: dict[int, CommitRecord] = {}
        for record in records:
            by_version.pop(record.version, None)
            by_version[record.version] = record
        return list(by_version.values())


def _line_of(record: CommitRecord) -> Mapping[str, object]:
    line: dict[str, object] = {
        "version": record.version,
        "reason": record.reason,
        "at": record.at.astimezone(UTC).isoformat(),
        "seconds": round(record.seconds, 4),
        "counts": {name: count for name, count in record.counts.items() if count},
    }
    if record.pinned:
        line["pinned"] = True
    return line


def _record_of(line: bytes) -> CommitRecord | None:
    """The record of a line, None for a torn one."""
    try:
        fields: dict[str, Any] = json.loads(line)
        return CommitRecord(
            version=int(fields["version"]),
            reason=str(fields["reason"]),
            at=datetime.fromisoformat(fields["at"]),
            seconds=float(fields["seconds"]),
            counts={str(k): int(v) for k, v in fields["counts"].items()},
            pinned=bool(fields.get("pinned", False)),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
