"""``model``: which model embeds the notes, what others cost, and changing to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lancebrain.cli.app import app, command, describe
from lancebrain.cli.exits import INTERRUPTED, PROBLEMS
from lancebrain.cli.front import Front
from lancebrain.cli.progress import shown_progress

if TYPE_CHECKING:
    from lancebrain.brain.modelfacts import ModelChange

_group = typer.Typer(no_args_is_help=True)
describe(_group, "Which model finds notes by their meaning.")
app.add_typer(_group, name="model", rich_help_panel="Look after")

_Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="As in: lancebrain model list; or package.module:factory, your own."
    ),
]


@command("list", group=_group, examples=("lancebrain model list",))
def list_models(front: Front) -> None:
    """List the models that can be used, or installed."""
    from lancebrain.cli.render_models import print_models

    with front.brain() as brain:
        entries = brain.models()
    if front.as_json:
        front.emit(entries)
        return
    print_models(front, entries)


@command("info", group=_group, examples=("lancebrain model info",))
def info(front: Front) -> None:
    """The model of the index, and how far a change to another has come."""
    from lancebrain.cli.render_models import print_model

    with front.brain() as brain:
        state = brain.model()
    if front.as_json:
        front.emit(state)
        return
    print_model(front, state)


@command(
    "use",
    group=_group,
    examples=(
        "lancebrain model use best",
        "lancebrain model use sentence-transformers:BAAI/bge-m3",
        "lancebrain model use ollama:bge-m3",
        "lancebrain model use usem3 --now",
    ),
)
def use(
    front: Front,
    name: _Name,
    now: Annotated[
        bool,
        typer.Option("--now", help="Switch at once; find by words alone what is not embedded yet."),
    ] = False,
) -> int:
    """Change the index to another model, without a pause.

    Questions are answered by the old model until the new one has embedded everything; no file is
    read again. Ctrl-C stops it; the same command goes on, and so does a process that stays (serve,
    sync --watch). A checkpoint is made first, so that a rollback undoes it.
    """
    try:
        with front.brain() as brain:
            front.remark(f"Loading {name} …")
            with shown_progress(front) as progress:
                change = brain.use_model(name, now=now, progress=progress)
    except KeyboardInterrupt:
        front.remark(f"Stopped. What was done is kept; to go on: lancebrain model use {name}")
        return INTERRUPTED
    _print_change(front, change)
    return 0 if change.done and not change.pending else PROBLEMS


@command("cancel", group=_group, examples=("lancebrain model cancel",))
def cancel(front: Front) -> None:
    """Give up a change of the model that is under way; the index stays as it is."""
    with front.brain() as brain:
        given_up = brain.keep_model()
    if front.as_json:
        front.emit({"cancelled": given_up})
    elif given_up:
        front.out.print(f"The change to {given_up} is given up.", markup=False)
    else:
        front.remark("No change is under way.")


@command(
    "bench",
    group=_group,
    examples=("lancebrain model bench", "lancebrain model bench best usem3 --seconds 30"),
)
def bench(
    front: Front,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Else the index's, and all that need no network."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, help="Of measuring, in all, about.")
    ] = 60.0,
) -> int:
    """Measure on your own notes what models cost here: to load, to index, to ask, in memory.

    Ends with 3 if one of them could not be measured.
    """
    from lancebrain.cli.render_models import print_costs

    with front.brain() as brain:
        state = brain.model()
        results = []
        for name, result in brain.bench_models(names or (), seconds=seconds):
            results.append((name, result))
            front.remark(f"{name} is measured.")
    failed = any(isinstance(result, Exception) for _, result in results)
    if front.as_json:
        front.emit(
            [
                {"model": name, "error": str(result)} if isinstance(result, Exception) else result
                for name, result in results
            ]
        )
    else:
        print_costs(front, results, chunks=state.chunks)
    return PROBLEMS if failed else 0


def _print_change(front: Front, change: ModelChange) -> None:
    if front.as_json:
        front.emit(change)
        return
    from lancebrain.cli.render_models import print_change

    print_change(front, change)
