"""``search`` and ``show``: the commands that answer."""

from __future__ import annotations

from typing import Annotated

import typer

from lancebrain.cli.app import command
from lancebrain.cli.front import Front
from lancebrain.cli.refs import At
from lancebrain.types import Filter, Mode


@command(
    "search",
    panel="Ask",
    examples=(
        'lancebrain search "how do I descale the espresso machine"',
        "lancebrain search '\"exact phrase\"' --mode keyword",
        "lancebrain search 締め切り --path 'work/**' --since 7d --limit 3",
        "lancebrain search deadline --json | jq -r '.hits\\[].path'",
        "lancebrain search 'opening hours' --at 7d",
    ),
    filtered=True,
)
def search(
    front: Front,
    text: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="What to look for, in any language.")
    ],
    mode: Annotated[
        Mode,
        typer.Option("--mode", help="By meaning and words, by meaning alone, or by words alone."),
    ] = "hybrid",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Hits at most.")] = 10,
    offset: Annotated[int, typer.Option(min=0, help="Hits to skip, for paging.")] = 0,
    look: Annotated[
        bool,
        typer.Option("--look/--no-look", help="Look at the files for changes before answering."),
    ] = True,
    at: At = None,
    rerank: Annotated[
        bool,
        typer.Option(
            "--rerank", help="Let a second model put the first hits in order; takes seconds."
        ),
    ] = False,
    *,
    wanted: Filter,
) -> None:
    """Ask a question; the best passages first, with where they stand."""
    question = " ".join(text)
    with front.brain() as brain:
        answer = brain.search(
            question,
            mode=mode,
            limit=limit,
            offset=offset,
            look=look,
            filter=wanted,
            at=at,
            rerank=rerank,
        )
        if front.as_json:
            front.emit(answer)
            return
        from lancebrain.cli.render import print_answer

        print_answer(front, answer, terms=brain.terms(question))


@command(
    "show",
    panel="Ask",
    examples=(
        "lancebrain show notes/gear/espresso.md",
        "lancebrain show notes/gear/espresso.md:12",
        "lancebrain show 'notes/gear/espresso.md#1048576' --before 1 --after 1",
        "lancebrain show notes/gear/espresso.md --at yesterday",
    ),
)
def show(
    front: Front,
    what: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A document, path:line, a hit's id (path#chunk), or a file."
        ),
    ],
    before: Annotated[
        int, typer.Option("--before", "-B", min=0, help="Chunks to show before a passage.")
    ] = 0,
    after: Annotated[
        int, typer.Option("--after", "-A", min=0, help="Chunks to show after a passage.")
    ] = 0,
    at: At = None,
) -> None:
    """Print a document or a passage as the index holds it."""
    with front.brain() as brain:
        passage = brain.show(what, before=before, after=after, at=at)
    if front.as_json:
        front.emit(passage)
        return
    from lancebrain.cli.render import print_passage

    print_passage(front, passage)
