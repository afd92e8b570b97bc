"""``analyze``: what the notes look like from above, as a table, JSON and a plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lancebrain.cli.app import app, command, describe
from lancebrain.cli.front import Front
from lancebrain.cli.refs import REF_HELP, At
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.brain import Analysis

_group = typer.Typer(no_args_is_help=True)
describe(_group, "What the notes look like from above: copies, topics, growth, gaps.")
app.add_typer(_group, name="analyze", rich_help_panel="Look after")

Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", "-n", min=1, show_default=False, help="Rows at most; of a table 20 by default."
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", show_default=False, help="Also draw it: .svg, .png or .pdf."
    ),
]

_TABLE_ROWS = 20


@command(
    "duplicates",
    group=_group,
    examples=(
        "lancebrain analyze duplicates",
        "lancebrain analyze duplicates --threshold 0.9 --path notes/",
    ),
    filtered=True,
)
def duplicates(
    front: Front,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, show_default=False, help="How alike in meaning; 0.95 by default."
        ),
    ] = None,
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """Notes that say the same as another, with how much of their text they share."""
    _give(front, "duplicates", {"threshold": threshold}, wanted, at, limit, plot)


@command(
    "outliers", group=_group, examples=("lancebrain analyze outliers --limit 5",), filtered=True
)
def outliers(
    front: Front,
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """Notes that nothing is like, each with the one that is nearest all the same."""
    _give(front, "outliers", {"count": limit}, wanted, at, limit, plot)


@command(
    "topics",
    group=_group,
    examples=(
        "lancebrain analyze topics",
        "lancebrain analyze topics --count 12 --plot topics.svg",
    ),
    filtered=True,
)
def topics(
    front: Front,
    count: Annotated[
        int | None,
        typer.Option(min=1, show_default=False, help="Topics at most. [dim]Else by the notes.[/]"),
    ] = None,
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """What the notes are about, with the words that tell each topic."""
    _give(front, "topics", {"count": count}, wanted, at, limit, plot)


@command(
    "map",
    group=_group,
    examples=(
        "lancebrain analyze map --plot map.png",
        "lancebrain analyze map --colour source --json",
    ),
    filtered=True,
)
def draw_map(
    front: Front,
    colour: Annotated[
        Literal["topic", "source", "domain", "kind"],
        typer.Option("--colour", "--color", help="What the colours of the plot mean."),
    ] = "topic",
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """The chunks in two dimensions: what is alike lies together."""
    _give(front, "map", {"colour": colour}, wanted, at, limit, plot)


@command(
    "growth",
    group=_group,
    examples=("lancebrain analyze growth --by year", "lancebrain analyze growth --plot growth.svg"),
    filtered=True,
)
def growth(
    front: Front,
    by: Annotated[
        Literal["day", "week", "month", "year"] | None,
        typer.Option(show_default=False, help="Length of a period. [dim]Else what fits.[/]"),
    ] = None,
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """How many notes there were when, by the date that a note has."""
    _give(front, "growth", {"by": by}, wanted, at, limit, plot)


@command(
    "changes",
    group=_group,
    examples=(
        "lancebrain analyze changes yesterday",
        "lancebrain analyze changes before-cleanup --json",
    ),
    filtered=True,
)
def changes(
    front: Front,
    since_ref: Annotated[str, typer.Argument(metavar="FROM", help=REF_HELP)],
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """What changed most since a version, by the text that came and went."""
    _give(front, "changes", {"since": since_ref}, wanted, at, limit, plot)


@command("coverage", group=_group, examples=("lancebrain analyze coverage",), filtered=True)
def coverage(
    front: Front,
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """Documents without all their vectors, with problems, or without any text."""
    _give(front, "coverage", {}, wanted, at, limit, plot)


@command(
    "sizes", group=_group, examples=("lancebrain analyze sizes --plot sizes.svg",), filtered=True
)
def sizes(
    front: Front,
    limit: Limit = None,
    plot: Plot = None,
    at: At = None,
    *,
    wanted: Filter,
) -> None:
    """How long chunks are, in characters, by kind of document."""
    _give(front, "sizes", {}, wanted, at, limit, plot)


def _give(
    front: Front,
    name: str,
    options: dict[str, Any],
    wanted: Filter,
    at: str | None,
    limit: int | None,
    plot: Path | None,
) -> None:
    with front.brain() as brain:
        analyze = brain.analyze if at is None else brain.at(at).analyze
        found: Analysis = getattr(analyze, name)(filter=wanted, **options)
    if front.as_json:
        front.emit(found.to_dict(limit))
    else:
        from lancebrain.cli.render_data import print_analysis

        print_analysis(front, found, limit or _TABLE_ROWS)
    if plot is not None:
        found.plot(plot)
        front.remark(f"Drawn: {plot}")
