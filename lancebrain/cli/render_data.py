"""Analyses for people: any table, cut to what fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lancebrain.cli.text import one_line, path_line, plural

if TYPE_CHECKING:
    from lancebrain.brain import Analysis
    from lancebrain.cli.front import Front

_PATHS = frozenset({"path", "like", "nearest", "example", "before"})


def print_analysis(front: Front, found: Analysis, limit: int) -> None:
    """A line a row; what it says in sentences to stderr."""
    rows = found.table.slice(0, limit).to_pylist()
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for name in found.table.column_names:
        is_number = any(isinstance(row[name], int | float) for row in rows)
        table.add_column(
            name.replace("_", " "),
            justify="right" if is_number else "left",
            overflow="fold",
            style="bold cyan" if name == "path" else "",
        )
    for row in rows:
        table.add_row(*(Text(_shown(name, value)) for name, value in row.items()))
    if rows:
        front.out.print(table)
    for sentence in found.summary:
        front.remark(one_line(sentence))
    more = found.table.num_rows - len(rows)
    if more:
        front.remark(f"{plural(more, 'more row')}: --limit, or --json for all.")


def _shown(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return one_line(", ".join(map(str, value)))
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    return path_line(str(value)) if name in _PATHS else one_line(str(value))
