"""Models for people: tables of what there is, what it costs, what was changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lancebrain.cli.render import print_problems
from lancebrain.cli.text import one_line, plural

if TYPE_CHECKING:
    from lancebrain.brain import Cost
    from lancebrain.brain.modelfacts import ModelChange, ModelEntry, ModelState
    from lancebrain.cli.front import Front


def print_models(front: Front, entries: Iterable[ModelEntry]) -> None:
    """A line a model; what is missing says how to install it."""
    table = _table("model", "state", "")
    for entry in entries:
        ready = "with network" if entry.needs_network else "ready"
        state = ("in use", "green") if entry.in_use else (ready, "")
        if not entry.installed:
            state = ("not installed", "dim")
        about = entry.summary
        if not entry.installed:
            about = f"{about} Install: pip install '{entry.install}'"
        table.add_row(Text(one_line(entry.name), style="bold"), Text(*state), Text(one_line(about)))
    front.out.print(table)


def print_model(front: Front, state: ModelState) -> None:
    """The model of the index."""
    pending = f", {state.pending:,} of them pending" if state.pending else ""
    lines = [
        ("model", state.model),
        ("dimensions", str(state.dim)),
        ("languages", ", ".join(state.languages) or "any"),
        ("chunks", f"{state.chunks:,}{pending}"),
        ("fingerprint", state.fingerprint),
        ("configured", state.configured),
    ]
    if state.fusion_weight is None:
        lines[2:3] = [("here", "cannot be had now")]
    if state.next_model:
        share = f"{state.next_done:,} of {state.next_total:,} texts"
        lines.append(("planned", f"{state.next_model}, which {share} have"))
    for name, value in lines:
        front.out.print(Text.assemble((f"{name:<12}", "dim"), one_line(value)), soft_wrap=True)
    if state.next_model:
        front.remark(
            "Whoever follows the files brings it about; or now: "
            f"lancebrain model use {state.next_model}"
        )


def print_change(front: Front, change: ModelChange) -> None:
    """What changing the model did."""
    if not change.done:
        front.remark(f"The index still has {change.model}; another process is at it, or it rests.")
        return
    if change.before == change.model and not change.embedded:
        what = f"The index has {change.model} already."
    else:
        what = f"{change.before} → {change.model}"
    details = f"  {plural(change.embedded, 'chunk')} embedded · {change.seconds:.1f} s"
    front.out.print(Text.assemble((one_line(what), "bold"), (details, "dim")), soft_wrap=True)
    if change.pending:
        front.remark(f"{plural(change.pending, 'chunk')} cannot be found by meaning yet.")
    print_problems(front, change.problems, every=True)


def print_costs(
    front: Front, results: Sequence[tuple[str, Cost | Exception]], *, chunks: int
) -> None:
    """What was measured.

    Args:
        chunks: of the index, to tell how long embedding all of them takes.
    """
    table = _table("model", "threads", "loads in", "chunks/s", "a question", "memory", "all chunks")
    for name, result in results:
        if isinstance(result, Exception):
            table.add_row(Text(one_line(name), style="bold"), Text(one_line(str(result)), "red"))
            continue
        table.add_row(
            Text(one_line(name), style="bold"),
            str(result.threads),
            f"{result.load_s:.1f} s",
            f"{result.texts_per_s:,.1f}",
            f"{result.query_ms:,.0f} ms",
            f"{result.memory_mb:,.0f} MB",
            duration(chunks / result.texts_per_s),
        )
    front.out.print(table)


def duration(seconds: float) -> str:
    """``40 seconds``, ``12 minutes``, ``3.5 hours``; not more exact than one can know."""
    if seconds < 90:
        return plural(max(1, round(seconds)), "second")
    if seconds < 90 * 60:
        return plural(round(seconds / 60), "minute")
    return f"{seconds / 3600:.1f} hours"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
