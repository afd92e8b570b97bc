"""``serve``: the index as tools for agents."""

from __future__ import annotations

from typing import Annotated

import typer

from lancebrain.cli.app import command
from lancebrain.cli.front import Front


@command(
    "serve",
    panel="Agents",
    examples=("lancebrain serve", "lancebrain serve --read-only", "lancebrain serve --http"),
)
def serve(
    front: Front,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Without the tools that write notes or roll back.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Keep the index equal to the files.")
    ] = True,
) -> None:
    """Serve the index to an agent over stdin and stdout (MCP), kept up to the files."""
    from lancebrain.errors import LancebrainError
    from lancebrain.mcp_server.server import build
    from lancebrain.mcp_server.stdio import serve_stdio

    try:
        brain = front.brain()
    except LancebrainError as error:
        # A program that starts servers shows no stderr: the agent is told, in answer to a call.
        serve_stdio(build(error, read_only=read_only, follow=follow))
    serve_stdio(build(brain, read_only=read_only, follow=follow))
