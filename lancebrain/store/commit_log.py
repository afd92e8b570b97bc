"""Why each version exists: one JSON line a commit, beside the table.

The table is the truth and this only annotates it: a version without a line is a version without
a reason, and a line without its version is passed over.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lancebrain.types import CommitRecord

from .connection import table_folder
from .failures import translated
from .manifests import made_at


class _Seen(NamedTuple):
    """How far the log was read, the last line of that, and what it held."""

    size_bytes: int
    line: bytes
    records: tuple[CommitRecord | None, ...]


_NOTHING = _Seen(0, b"", ())


class CommitLog:
    """The append-only log of one index folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "commits.jsonl"
        self._seen = _NOTHING

    def record(
        self,
        version: int,
        reason: str,
        counts: Mapping[str, int],
        started: float,
        *,
        note: str = "",
    ) -> None:
        """Add the record of a version made just now; ``started`` is ``time.monotonic()``."""
        at, seconds = datetime.now(UTC), time.monotonic() - started
        self.append(CommitRecord(version, reason, at, seconds, dict(counts), note=note))

    def append(self, record: CommitRecord) -> None:
        """Add a record; the caller holds the index lock."""
        line = _line_of(record).encode()
        with translated(self._folder, "writing the commit log"), self._file.open("ab+") as log:
            # A line that a crash tore has no end: close it, so that it spoils only itself.
            torn = log.seek(0, 2) > 0 and log.seek(-1, 2) >= 0 and log.read(1) != b"\n"
            log.write(b"\n" + line if torn else line)

    def read(self) -> list[CommitRecord]:
        """The records of all versions that exist, oldest first."""
        existing = made_at(table_folder(self._folder))
        # Of two for one version the later counts: the earlier one's version was lost in a crash.
        latest = {r.version: r for r in self._records() if r is not None and r.version in existing}
        return [latest[version] for version in sorted(latest)]

    def prune(self) -> None:
        """Drop the lines of versions that are gone; the caller holds the index lock."""
        kept = self.read()
        if len(kept) == len(self._records()):
            return
        fresh = self._file.with_suffix(".jsonl.new")
        with translated(self._folder, "pruning the commit log"):
            fresh.write_text("".join(map(_line_of, kept)), encoding="utf-8")
            fresh.replace(self._file)

    def clear(self) -> None:
        """Begin anew, for a new table."""
        with translated(self._folder, "clearing the commit log"):
            self._file.unlink(missing_ok=True)

    def _records(self) -> tuple[CommitRecord | None, ...]:
        """Of every line; lines that were understood once are not read again."""
        seen = self._seen
        with translated(self._folder, "reading the commit log"):
            try:
                with self._file.open("rb") as log:
                    log.seek(seen.size_bytes - len(seen.line))
                    if log.read(len(seen.line)) != seen.line:  # written anew meanwhile
                        seen = _NOTHING
                        log.seek(0)
                    new = log.read()
            except FileNotFoundError:
                return ()
        *whole, rest = new.split(b"\n")
        if whole:
            read = seen.size_bytes + len(new) - len(rest)
            seen = _Seen(read, whole[-1] + b"\n", (*seen.records, *map(_record_of, whole)))
            self._seen = seen
        return (*seen.records, _record_of(rest)) if rest else seen.records


def _line_of(record: CommitRecord) -> str:
    line: dict[str, object] = {
        "version": record.version,
        "reason": record.reason,
        "at": record.at.astimezone(UTC).isoformat(),
        "seconds": round(record.seconds, 4),
        "counts": _nonzero(record.counts),
    }
    if record.pinned:
        line["pinned"] = True
    if record.note:
        line["note"] = record.note
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def _nonzero(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


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
            note=str(fields.get("note", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
