"""How long chunks are, by kind of document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lancebrain.analysis.result import Analysis, Chart
from lancebrain.store.filters import all_of
from lancebrain.store.schema import CHUNK_ROWS
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

_STEPS = 40
_SHARES = {"least": 0, "tenth": 10, "median": 50, "nine_tenths": 90, "most": 100}
_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("chunks", pa.int64()),
        *((name, pa.int64()) for name in _SHARES),
        ("mean", pa.float64()),
        ("characters", pa.int64()),
    ]
)


def sizes(snapshot: Snapshot, wanted: Filter) -> Analysis:
    """Characters a chunk: the least, the most, and between; a row a kind, the most text first."""
    columns = {"kind": "kind", "characters": "character_length(text)"}
    where = all_of(CHUNK_ROWS, snapshot.where(wanted))
    chunks = snapshot.scan(where, columns)
    kinds = chunks["kind"].combine_chunks().dictionary_encode()
    lengths = chunks["characters"].to_numpy()
    codes = kinds.indices.to_numpy()
    rows = []
    for code, kind in enumerate(kinds.dictionary.to_pylist()):
        own = lengths[codes == code]
        row = {"kind": kind, "chunks": len(own), "characters": int(own.sum())}
        row |= {"mean": round(float(own.mean()), 1)}
        at = np.percentile(own, list(_SHARES.values()), method="nearest")
        rows.append(row | dict(zip(_SHARES, at.tolist(), strict=True)))
    rows.sort(key=lambda row: (-row["characters"], row["kind"]))
    most = int(np.percentile(lengths, 99.5)) if len(lengths) else 0
    edges = np.linspace(0, max(1, most), _STEPS + 1)
    middles = ((edges[:-1] + edges[1:]) / 2).tolist()
    return Analysis(
        name="sizes",
        title="How long chunks are",
        version=snapshot.version,
        summary=(
            f"Chunks: {len(lengths):,}, of {int(np.median(lengths)) if len(lengths) else 0:,} "
            "characters in the middle.",
        ),
        table=pa.Table.from_pylist(rows, schema=_SCHEMA),
        chart=Chart(
            "lines",
            "characters",
            "chunks",
            {
                row["kind"]: np.histogram(
                    lengths[codes == kinds.dictionary.index(row["kind"]).as_py()], edges
                )[0]
                for row in rows
            },
            x=middles,
        ),
    )
