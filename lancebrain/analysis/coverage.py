"""Coverage: what cannot be found by its meaning yet, and what there were problems with."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from lancebrain.analysis.documents import read_documents
from lancebrain.analysis.result import Analysis, Chart
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

_COLUMNS = ("path", "source", "chunks", "pending", "problems")
_STATES = ("whole", "pending", "problems", "blank")
_SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("source", pa.string()),
        ("chunks", pa.int64()),
        ("pending", pa.int64()),
        ("problems", pa.list_(pa.string())),
        ("messages", pa.list_(pa.string())),
    ]
)


def coverage(snapshot: Snapshot, wanted: Filter) -> Analysis:
    """The documents with chunks that have no vector, with problems, or without any text."""
    counts: dict[str, Counter[str]] = {}
    rows = []
    chunks = pending = 0
    for row in read_documents(snapshot, wanted, _COLUMNS).to_pylist():
        problems = row["problems"] or []
        state = _state(row["chunks"], row["pending"], bool(problems))
        counts.setdefault(row["source"], Counter())[state] += 1
        chunks += row["chunks"]
        pending += row["pending"]
        if state != "whole":
            told = {"problems": [problem["code"] for problem in problems]}
            told |= {"messages": [problem["message"] for problem in problems]}
            rows.append(row | told)
    rows.sort(key=lambda row: (-row["pending"], -len(row["problems"]), row["path"]))
    states: Counter[str] = sum(counts.values(), Counter())
    return Analysis(
        name="coverage",
        title="What can be found, and what cannot",
        version=snapshot.version,
        summary=(
            f"Documents: {states.total():,}; whole: {states['whole']:,}, with pending chunks: "
            f"{states['pending']:,}, with problems: {states['problems']:,}, blank: "
            f"{states['blank']:,}.",
            f"Chunks: {chunks:,}; with a vector: {chunks - pending:,}.",
        ),
        table=pa.Table.from_pylist(rows, schema=_SCHEMA),
        chart=Chart(
            "bars",
            "documents",
            "",
            {state: [counts[source][state] for source in sorted(counts)] for state in _STATES},
            labels=sorted(counts),
        ),
    )


def _state(chunks: int, pending: int, has_problems: bool) -> str:
    if pending:
        return "pending"
    if has_problems:
        return "problems"
    return "whole" if chunks else "blank"
