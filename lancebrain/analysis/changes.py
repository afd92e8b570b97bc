"""What changed most between two versions, by the text that came and went."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.analysis.result import Analysis, Chart
from lancebrain.store.schema import CHUNK_ROWS
from lancebrain.types import Filter
from lancebrain.versions.diff import diff

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

_Pieces = Counter[tuple[str, int]]
"""Chunks of a document by hash and length: how often each is there."""

_BARS = 20
_WHATS = ("changed", "added", "removed", "moved")
_SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("what", pa.string()),
        ("characters_added", pa.int64()),
        ("characters_removed", pa.int64()),
        ("chunks_added", pa.int64()),
        ("chunks_removed", pa.int64()),
        ("share", pa.float64()),
        ("before", pa.string()),
    ]
)


def changes(earlier: Snapshot, later: Snapshot, wanted: Filter) -> Analysis:
    """The documents that differ between two versions, those with the most text that does first.

    A chunk of which one word changed counts whole: as added and as removed. ``share`` is how much
    of the document's text, before and after, that is.

    Args:
        wanted: of which documents; of a removed one, as it was in the earlier version.
    """
    told = diff(earlier, later).changes
    passed = _passed(earlier, wanted) | _passed(later, wanted)
    told = tuple(change for change in told if change.path in passed)
    old = _pieces(earlier, {change.before or change.path for change in told})
    new = _pieces(later, {change.path for change in told})
    rows: list[dict[str, Any]] = []
    for change in told:
        before = old.get(change.before or change.path, Counter())
        after = new.get(change.path, Counter())
        gone, come = before - after, after - before
        every = _characters(before) + _characters(after)
        rows.append(
            {
                "path": change.path,
                "what": change.what,
                "characters_added": _characters(come),
                "characters_removed": _characters(gone),
                "chunks_added": come.total(),
                "chunks_removed": gone.total(),
                "share": round((_characters(come) + _characters(gone)) / max(1, every), 4),
                "before": change.before,
            }
        )
    rows.sort(key=lambda row: (-row["characters_added"] - row["characters_removed"], row["path"]))
    counts = Counter(row["what"] for row in rows)
    return Analysis(
        name="changes",
        title=f"What changed from version {earlier.version} to {later.version}",
        version=later.version,
        summary=(
            f"Since version {earlier.version}: "
            + ", ".join(f"{counts[what]:,} {what}" for what in _WHATS)
            + ".",
        ),
        table=pa.Table.from_pylist(rows, schema=_SCHEMA),
        chart=Chart(
            "bars",
            "characters",
            "",
            {
                name: [row[f"characters_{name}"] for row in rows[:_BARS]]
                for name in ("added", "removed")
            },
            labels=[row["path"] for row in rows[:_BARS]],
        ),
    )


def _passed(snapshot: Snapshot, wanted: Filter) -> set[str]:
    return set(
        pc.unique(snapshot.to_arrow(["path"], where=snapshot.where(wanted))["path"]).to_pylist()
    )


def _pieces(snapshot: Snapshot, paths: Collection[str]) -> Mapping[str, _Pieces]:
    if not paths:
        return {}
    columns = {"path": "path", "hash": "chunk_hash", "characters": "character_length(text)"}
    rows = snapshot.scan(CHUNK_ROWS, columns)
    rows = rows.filter(pc.is_in(rows["path"], pa.array(list(paths), pa.string())))
    found: defaultdict[str, _Pieces] = defaultdict(Counter)
    for path, chunk_hash, characters in zip(*(c.to_pylist() for c in rows.columns), strict=True):
        found[path][chunk_hash, characters] += 1
    return found


def _characters(pieces: _Pieces) -> int:
    return sum(characters * count for (_, characters), count in pieces.items())
