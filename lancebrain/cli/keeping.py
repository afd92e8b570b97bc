"""``status``, ``export`` and ``doctor``: what the index holds and whether it is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lancebrain.cli.app import command
from lancebrain.cli.exits import PROBLEMS
from lancebrain.cli.front import Front
from lancebrain.cli.refs import At
from lancebrain.types import Filter


@command(
    "status",
    panel="Look after",
    examples=("lancebrain status", "lancebrain status --json | jq .pending"),
)
def status(
    front: Front,
    every_problem: Annotated[
        bool, typer.Option("--problems", help="List every problem, not the first few.")
    ] = False,
    at: At = None,
) -> None:
    """The index at a glance: sources, documents, what is pending, problems with files."""
    with front.brain() as brain:
        state = brain.status(at=at)
    if front.as_json:
        front.emit(state)
        return
    from lancebrain.cli.render import print_status

    print_status(front, state, every_problem=every_problem)


@command(
    "export",
    panel="Look after",
    examples=(
        "lancebrain export > chunks.jsonl",
        "lancebrain export --format parquet --output notes.parquet --path notes/",
    ),
    filtered=True,
)
def export(
    front: Front,
    file_format: Annotated[
        Literal["jsonl", "csv", "parquet", "arrow"],
        typer.Option("--format", help="A chunk is a line or a row in each of them."),
    ] = "jsonl",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Else to stdout.")
    ] = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """Write the chunks out, without vectors, in the order of the documents."""
    import contextlib
    import sys

    from lancebrain.errors import UsageError

    if output is None and file_format in ("parquet", "arrow") and sys.stdout.isatty():
        raise UsageError(
            f"{file_format} is binary and would spoil the terminal.",
            hint="Name a file: --output FILE",
        )
    with front.brain() as brain, contextlib.ExitStack() as stack:
        target = stack.enter_context(output.open("wb")) if output else sys.stdout.buffer
        file_format = "jsonl" if front.as_json else file_format
        brain.export(target, format=file_format, filter=wanted, at=at)


@command(
    "doctor",
    panel="Look after",
    examples=(
        "lancebrain doctor",
        "lancebrain doctor --deep",
        "lancebrain doctor --fix",
        "lancebrain doctor mcp",
    ),
)
def doctor(
    front: Front,
    what: Annotated[
        Literal["index", "mcp"],
        typer.Argument(help="mcp: start the server as an agent's program would."),
    ] = "index",
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every file and compare every chunk.")
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair what is found, small to large.")
    ] = False,
) -> int:
    """Check that the index is sound and equal to the files. Ends with 3 if something is left."""
    if what == "mcp":
        from lancebrain.cli.serving import check_server

        return check_server(front)
    from lancebrain.cli.render import print_findings

    with front.brain() as brain:
        diagnosis = brain.doctor(deep=deep, fix=fix)
    if front.as_json:
        front.emit(diagnosis)
    else:
        print_findings(front, diagnosis)
    return PROBLEMS if any(not finding.fixed for finding in diagnosis.findings) else 0
