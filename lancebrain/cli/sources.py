"""``sources``: which folders are indexed."""

from __future__ import annotations

from typing import Annotated

import typer

from lancebrain.cli.app import app, command, describe
from lancebrain.cli.front import Front

_PROGRAMS = ("claude", "codex", "gemini")

_group = typer.Typer(no_args_is_help=True)
describe(_group, "Which folders are indexed.")
app.add_typer(_group, name="sources", rich_help_panel="Index")


@command("list", group=_group, examples=("lancebrain sources list",))
def list_sources(front: Front) -> None:
    """List the sources, whether they can be read, and their documents."""
    with front.brain() as brain:
        states = brain.sources()
    if front.as_json:
        front.emit(states)
        return
    from lancebrain.cli.render import print_sources

    print_sources(front, states)


@command(
    "add",
    group=_group,
    examples=(
        "lancebrain sources add ~/notes",
        "lancebrain sources add ~/team/wiki --name wiki --domain work --exclude '_archive/'",
        "lancebrain sources add claude",
    ),
)
def add_source(
    front: Front,
    what: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|PROGRAM",
            help="What to index: a folder, or claude, codex, gemini for their session logs.",
        ),
    ],
    name: Annotated[
        str | None, typer.Option("--name", help="What to call it. [dim]Else the folder's name.[/]")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="md, text, claude, codex … [dim]Else by name and content.[/]"),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain",
            help="A label to search by. [dim]Else knowledge, and sessions for session logs.[/]",
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="PATTERN", help="Take only these; as in .gitignore."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="PATTERN", help="Leave these out; as in .gitignore."),
    ] = None,
    recursive: Annotated[
        bool, typer.Option("--recursive/--flat", help="Subfolders too, or the folder alone.")
    ] = True,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let tools write notes here.")
    ] = False,
) -> None:
    """Add a folder, or the session logs of a program; the next sync indexes it.

    A folder that is called like a program is meant by ./claude.
    """
    about = {
        "name": name,
        "kind": kind,
        "domain": domain,
        "include": include or (),
        "exclude": exclude or (),
        "recursive": recursive,
        "writable": writable,
    }
    with front.brain() as brain:
        logs = brain.add_program(what, **about) if what in _PROGRAMS else None
        source = logs.source if logs else brain.add_source(what, **about)
    if front.as_json:
        front.emit(logs or source)
        return
    front.out.print(f"{source.name}: {source.root}", markup=False)
    if logs:
        from lancebrain.cli.text import human_bytes, plural

        front.remark(f"{plural(logs.sessions, 'session')}, {human_bytes(logs.bytes)}")
    front.remark("Index it: lancebrain sync")


@command("remove", group=_group, examples=("lancebrain sources remove wiki",))
def remove_source(
    front: Front,
    name: Annotated[str, typer.Argument(metavar="NAME", help="As in: lancebrain sources list")],
) -> None:
    """Take a source out; the next sync drops its documents from the index. No file is touched."""
    with front.brain() as brain:
        source = brain.remove_source(name)
    if front.as_json:
        front.emit(source)
        return
    front.out.print(f"{source.name}: no longer a source", markup=False)
    front.remark("Drop its documents from the index: lancebrain sync")
