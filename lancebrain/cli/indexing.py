"""``init`` and ``sync``: from a folder to an index that equals it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lancebrain.cli.app import command
from lancebrain.cli.exits import INTERRUPTED, PROBLEMS
from lancebrain.cli.front import Front
from lancebrain.cli.progress import shown_progress

if TYPE_CHECKING:
    from lancebrain.brain import Brain


@command(
    "init",
    panel="Index",
    examples=("lancebrain init", "lancebrain init ~/notes ~/team/wiki --config lb.toml"),
)
def init(
    front: Front,
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[FOLDER]...", help="Sources to begin with.")
    ] = None,
) -> None:
    """Write a lancebrain.toml to edit, here or at --config. Not needed to begin: see sync."""
    from lancebrain.brain import write_config

    written = write_config(front.config_file, folders or ())
    if front.as_json:
        front.emit({"config": written})
        return
    front.out.print(str(written), markup=False)
    front.remark("Edit it, then: lancebrain sync")


@command(
    "sync",
    panel="Index",
    examples=(
        "lancebrain sync ~/notes",
        "lancebrain sync",
        "lancebrain sync notes/gear --dry-run",
        "lancebrain sync --watch",
        "lancebrain sync --engine ray --address auto",
    ),
)
def sync(
    front: Front,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Folders or files. A folder that is in no source yet becomes one. "
            "[dim]Else all sources.[/]",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and follow every change until Ctrl-C.")
    ] = False,
    confirm_removals: Annotated[
        bool,
        typer.Option(
            "--confirm-removals", help="Drop documents also where most of a source is gone."
        ),
    ] = False,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option("--engine", help="What parses and embeds: this process, or a Ray cluster."),
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="ADDRESS", help="Of the Ray cluster. [dim]Else this machine.[/]"
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="On it. [dim]Else one for each processor.[/]"),
    ] = None,
) -> int:
    """Make the index equal to the files; only what changed is read, embedded and written.

    Ends with 3 when this run met problems with some files; they are listed, the rest is done.
    """
    from lancebrain.cli.render import print_report

    try:
        with front.brain() as brain:
            with shown_progress(front) as progress:
                report = brain.sync(
                    paths or (),
                    dry_run=dry_run,
                    confirm_removals=confirm_removals,
                    progress=progress,
                    engine=engine,
                    address=address,
                    workers=workers,
                )
            print_report(front, report, dry_run=dry_run, one_of_many=watch)
            if not (dry_run or watch or front.as_json):
                _advise(front, brain)
            if watch and not dry_run:
                front.remark("Watching for changes; Ctrl-C stops.")
                _follow(front, brain)
    except KeyboardInterrupt:
        front.remark("Stopped. What was committed is kept; run it again to go on.")
        return INTERRUPTED
    return PROBLEMS if report.problems else 0


def _advise(front: Front, brain: Brain) -> None:
    """Tell of a better model, once for an index."""
    advice = brain.settle_model()
    if advice is None:
        return
    from lancebrain.cli.render_models import duration

    front.remark(
        f"The model {advice.model!r} would find more, most of all by vague questions. It takes "
        f"about {duration(advice.seconds)}: lancebrain model use {advice.model}"
    )
    if advice.planned:
        front.remark("Or leave it to `lancebrain serve` or `sync --watch`, in the background.")


def _follow(front: Front, brain: Brain) -> None:
    from lancebrain.cli.render import print_report

    try:
        for report in brain.watch():
            print_report(front, report, one_of_many=True)
    except KeyboardInterrupt:
        return  # that is how one ends it
