"""``serve`` and ``install``: the index as tools for agents, and telling their programs of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lancebrain.cli.app import command
from lancebrain.cli.exits import PROBLEMS
from lancebrain.cli.front import Front
from lancebrain.cli.stdio import serve_over_stdio, sharing_of

if TYPE_CHECKING:
    from lancebrain.mcp_server.hosts import Launch

_PANEL = "Agents"
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Without the tools that write notes or roll back.")
]


@command(
    "serve",
    panel=_PANEL,
    examples=("lancebrain serve", "lancebrain serve --read-only", "lancebrain serve --http"),
)
def serve(
    front: Front,
    read_only: ReadOnly = False,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Keep the index equal to the files.")
    ] = True,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared/--alone",
            help="Of the servers of an index that are set up alike, one does the work of all.",
        ),
    ] = True,
    http: Annotated[
        bool, typer.Option("--http", help="Over HTTP on this computer, for many clients at once.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="NAME", help="With --http: a loopback address.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=1, max=65_535, help="With --http.")
    ] = 7437,
    token: Annotated[
        bool, typer.Option("--token/--no-token", help="With --http: ask clients for a token.")
    ] = True,
) -> None:
    """Serve the index to agents by the Model Context Protocol, kept up to the files.

    Without --http it speaks over stdin and stdout, to the program that started it.
    """
    if http:
        _serve_http(front, read_only, follow, shared, host=host, port=port, token=token)
    else:
        serve_over_stdio(front, read_only=read_only, follow=follow, shared=shared)


@command(
    "install",
    panel=_PANEL,
    examples=(
        "lancebrain install claude-code",
        "lancebrain install codex --print",
        "lancebrain install cursor --undo",
    ),
)
def install(
    front: Front,
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM",
            help="claude-code, claude-desktop, cursor, vscode, codex, gemini, zed or windsurf.",
        ),
    ],
    only_print: Annotated[
        bool, typer.Option("--print", help="Print what its file would hold; write nothing.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take it out again.")] = False,
    read_only: ReadOnly = False,
) -> None:
    """Tell a program that runs agents to start this server; what its file holds else is kept."""
    from lancebrain.mcp_server.hosts import installed

    launch = None if undo else launch_for(front, read_only=read_only)
    done = installed(program, launch, write=not only_print)
    if front.as_json:
        front.emit(done)
    elif only_print:
        sys.stdout.write(done.text)
        front.remark(f"This would be {done.file}")
    else:
        front.out.print(str(done.file), markup=False)
        front.remark(_what_was_done(done.changed, undo, done.backup))


def launch_for(front: Front, *, read_only: bool = False) -> Launch:
    """The command line of a server of this index, which holds in every working folder."""
    from lancebrain.mcp_server.hosts import launch_of

    settings = front.brain().settings
    arguments = ["--index", settings.index_name]
    if settings.config_file is not None:
        arguments += ["--config", str(settings.config_file)]
    if read_only:
        arguments.append("--read-only")
    return launch_of(tuple(arguments))


def check_server(front: Front) -> int:
    """Start the server as a program would, and tell what it answers; the exit code."""
    from lancebrain.mcp_server.check import Checked, check

    found: list[Checked] = []

    def told(finding: Checked) -> None:
        found.append(finding)
        if not front.as_json:
            mark = "ok" if finding.ok else "not ok"
            front.out.print(f"{mark:>6}  {finding.what}: {finding.detail}", markup=False)

    is_well = check(launch_for(front), told)
    if front.as_json:
        front.emit(found)
    return 0 if is_well else PROBLEMS


def _serve_http(
    front: Front, read_only: bool, follow: bool, shared: bool, *, host: str, port: int, token: bool
) -> None:
    from lancebrain.mcp_server.http import auth_for, serve_http, url_of
    from lancebrain.mcp_server.server import build
    from lancebrain.service.loopback import TOKEN_FILE, token_of

    brain = front.brain()
    auth = {}
    front.remark(f"Serving at {url_of(host, port)}; Ctrl-C stops.")
    if token:
        index = brain.settings.index
        auth = auth_for(token_of(index), host, port)
        front.remark(f"Clients send the header: Authorization: Bearer $(cat {index / TOKEN_FILE})")
    sharing = sharing_of(front, read_only=read_only, follow=follow) if shared else None
    server = build(brain, read_only=read_only, follow=follow, sharing=sharing, **auth)
    serve_http(server, host=host, port=port)


def _what_was_done(changed: bool, undo: bool, backup: Path | None) -> str:
    if not changed:
        return "It was so already."
    did = "Taken out" if undo else "Put in"
    kept = f"; as it was: {backup}" if backup else ""
    return f"{did}{kept}. Start the program again."
