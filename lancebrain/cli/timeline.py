"""``history``, ``diff`` and ``checkpoint``: the index in time, to look at."""

from __future__ import annotations

from typing import Annotated

import typer

from lancebrain.cli.app import command
from lancebrain.cli.front import Front
from lancebrain.cli.refs import REF_HELP
from lancebrain.errors import UsageError

PANEL = "Go back in time"


@command(
    "history",
    panel=PANEL,
    examples=(
        "lancebrain history",
        "lancebrain history --limit 100",
        "lancebrain history --json | jq '.\\[0].version'",
    ),
)
def history(
    front: Front,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="Versions at most; 20 by default.")
    ] = 20,
) -> None:
    """List the versions that can be read, newest first: when, why, what changed, checkpoints."""
    with front.brain() as brain:
        # One more than is shown tells that there are more.
        versions = brain.history(limit=limit + 1)
    if front.as_json:
        front.emit(versions[:limit])
        return
    from lancebrain.cli.render_time import print_history

    print_history(front, versions[:limit], has_more=len(versions) > limit)


@command(
    "diff",
    panel=PANEL,
    examples=(
        "lancebrain diff yesterday",
        "lancebrain diff before-cleanup latest --chunks",
        "lancebrain diff latest~1",
        "lancebrain diff 12 15 --json",
    ),
)
def diff(
    front: Front,
    earlier: Annotated[str, typer.Argument(metavar="FROM", help=REF_HELP)],
    later: Annotated[
        str, typer.Argument(metavar="[TO]", help="The same; the newest version by default.")
    ] = "latest",
    chunks: Annotated[
        bool, typer.Option("--chunks", help="Show the texts, as a unified diff.")
    ] = False,
) -> None:
    """Tell which documents were added, changed, moved or removed between two versions."""
    with front.brain() as brain:
        changes = brain.diff(earlier, later, texts=chunks)
    if front.as_json:
        front.emit(changes)
        return
    from lancebrain.cli.render_time import print_diff

    print_diff(front, changes)


@command(
    "checkpoint",
    panel=PANEL,
    examples=(
        'lancebrain checkpoint before-cleanup -m "all notes of the old job"',
        "lancebrain checkpoint --list",
        "lancebrain checkpoint --delete before-cleanup",
    ),
)
def checkpoint(
    front: Front,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="What to call the current version.")
    ] = None,
    message: Annotated[
        str, typer.Option("--message", "-m", metavar="TEXT", help="What it is good for.")
    ] = "",
    every: Annotated[bool, typer.Option("--list", help="List them.")] = False,
    delete: Annotated[
        str | None,
        typer.Option(
            "--delete",
            metavar="NAME",
            show_default=False,
            help="Take a name away; its version goes when its time has come.",
        ),
    ] = None,
    look: Annotated[
        bool, typer.Option("--look/--no-look", help="Take in what has changed on disk first.")
    ] = True,
) -> None:
    """Name the current version, so that it stays until the name is taken away."""
    if sum((name is not None, every, delete is not None)) > 1:
        raise UsageError(
            "A name to give, --list and --delete are three things to do.", hint="Choose one."
        )
    from lancebrain.cli.render_time import print_checkpoints

    with front.brain() as brain:
        if delete is not None:
            brain.delete_checkpoint(delete)
        made = brain.checkpoint(name, message, look=look) if name is not None else None
        shown = brain.checkpoints()
    if front.as_json:
        front.emit(made or shown)
    elif made is not None:
        front.out.print(f"{made.name}: version {made.version}", markup=False)
        front.remark(f"Back to it: lancebrain rollback {made.name}")
    elif delete is not None:
        front.out.print(f"{delete}: no longer a checkpoint", markup=False)
    else:
        print_checkpoints(front, shown)
