"""``status``, ``export`` and ``doctor``: what the index holds and whether it is sound."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from lancebrain.cli.app import command
from lancebrain.cli.exits import PROBLEMS
from lancebrain.cli.front import Front
from lancebrain.cli.refs import At
from lancebrain.errors import UsageError
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
    look: Annotated[
        bool, typer.Option("--look/--no-look", help="Look at the files for changes first.")
    ] = True,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """Write the chunks out, without vectors, in the order of the documents."""
    import sys

    from lancebrain.cli.text import one_line

    if output is None and file_format in ("parquet", "arrow") and sys.stdout.isatty():
        raise UsageError(
            f"{file_format} is binary and would spoil the terminal.",
            hint="Name a file: --output FILE",
        )
    file_format = "jsonl" if front.as_json else file_format
    target = nullcontext(sys.stdout.buffer) if output is None else _written(output)
    with front.brain() as brain, target as stream:
        notes = brain.export(stream, format=file_format, filter=wanted, at=at, look=look)
    for note in notes:
        front.remark(one_line(note))


@contextmanager
def _written(output: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of one of its name when it is whole."""
    place = output.resolve()  # a link stays one
    is_device = place.exists() and not place.is_file()
    file = place if is_device else place.with_name(f"{place.name}.{secrets.token_hex(4)}.part")
    with _told(output):
        stream = file.open("wb")
    try:
        with stream:
            yield stream
        if not is_device:
            with _told(output):
                file.replace(place)
    finally:
        if not is_device:
            file.unlink(missing_ok=True)


@contextmanager
def _told(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{output} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


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
