"""Notes that nothing is like: documents whose nearest other document is farthest away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from lancebrain.analysis.documents import read_documents
from lancebrain.analysis.geometry import steady
from lancebrain.analysis.meaning import document_meanings, nearest_others
from lancebrain.analysis.result import Analysis, Chart
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

COUNT = 100
"""How many are told."""

_BARS = 20
_SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("similarity", pa.float64()),
        ("nearest", pa.string()),
        ("characters", pa.int64()),
        ("title", pa.string()),
    ]
)


def outliers(snapshot: Snapshot, wanted: Filter, *, count: int = COUNT) -> Analysis:
    """The documents that are least like any other, with the one that is nearest all the same.

    Args:
        count: how many at most.
    """
    about = read_documents(snapshot, wanted, ("path", "characters", "title")).to_pylist()
    documents = {row["path"]: row for row in about}
    meanings = document_meanings(snapshot, wanted)
    rows = []
    if len(meanings.paths) > 1:
        with steady():
            lonely, nearest, cosines = nearest_others(meanings.vectors, count)
        for row, other, cosine in zip(
            *(a.tolist() for a in (lonely, nearest, cosines)), strict=True
        ):
            path = meanings.paths[row]
            found = {"similarity": round(cosine, 4), "nearest": meanings.paths[other]}
            rows.append(documents[path] | found)
    return Analysis(
        name="outliers",
        title="Notes that nothing is like",
        version=snapshot.version,
        summary=(f"Notes that were compared: {len(meanings.paths):,}.",),
        table=pa.Table.from_pylist(rows, schema=_SCHEMA),
        chart=Chart(
            "bars",
            "similarity to the nearest note",
            "",
            {"similarity": [row["similarity"] for row in rows[:_BARS]]},
            labels=[row["path"] for row in rows[:_BARS]],
        ),
    )
