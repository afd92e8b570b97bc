"""Why each version exists: one JSON line a commit, beside the table.

The table is the truth and this only annotates it: a version without a line is a version without
a reason, and a line without its version is passed over.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from lancebrain.types import CommitRecord

from .failures import translated
from .storage import Where, storage_of


class _Seen(NamedTuple):
    """How far the log was read, the last line of that, and what it held."""

    size_bytes: int
    line: bytes
    records: tuple[CommitRecord | None, ...]


_NOTHING = _Seen(0, b"", ())
_FILE = "commits.jsonl"


class CommitLog:
    """The append-only log of one index."""

    def __init__(self, where: Where) -> None:
        self._storage = storage_of(where)
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
        with translated(self._storage, "writing the commit log"):
            self._storage.append(_FILE, _line_of(record))

    def read(self, of: Collection[int] | None = None) -> list[CommitRecord]:
        """The records of the versions that exist, oldest first.

        Args:
            of: these versions, where they were listed already.
        """
        if of is None:
            with translated(self._storage, "listing its versions"):
                of = self._storage.made_at()
        # Of two for one version the later counts: the earlier one's version was lost in a crash.
        latest = {r.version: r for r in self._records() if r is not None and r.version in of}
        return [latest[version] for version in sorted(latest)]

    def prune(self) -> None:
        """Drop the lines of versions that are gone; the caller holds the index lock."""
        kept = self.read()
        if len(kept) == len(self._records()):
            return
        self._storage.write(_FILE, "".join(map(_line_of, kept)))

    def clear(self) -> None:
        """Begin anew, for a new table."""
        with translated(self._storage, "clearing the commit log"):
            self._storage.remove(_FILE)

    def _records(self) -> tuple[CommitRecord | None, ...]:
        """Of every line; lines that were understood once are not read again."""
        seen = self._seen
        with translated(self._storage, "reading the commit log"):
            new = self._storage.read(_FILE, seen.size_bytes - len(seen.line))
            if new is not None and not new.startswith(seen.line):  # written anew meanwhile
                seen = _NOTHING
                new = self._storage.read(_FILE)
            if new is None:
                return ()
        new = new[len(seen.line) :]
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
