"""``ui``: the index in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from lancebrain.cli.app import command
from lancebrain.cli.front import Front


@command(
    "ui",
    panel="Ask",
    examples=("lancebrain ui", "lancebrain ui --read-only", "lancebrain ui --no-open --json"),
)
def ui(
    front: Front,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="N",
            min=1,
            max=65_535,
            show_default=False,
            help="Else 7438, or any other if that is taken.",
        ),
    ] = None,
    opens: Annotated[bool, typer.Option("--open/--no-open", help="Show it in the browser.")] = True,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only look: no rollback, no restoring.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Keep the index equal to the files.")
    ] = True,
) -> None:
    """Search and look around in the browser: documents, history, a map, the state of the index.

    The page is on this computer alone, and for who has its link.
    """
    from lancebrain.web.serving import serve_page

    def tell(link: str) -> None:
        if front.as_json:
            front.emit({"url": link})
        else:
            front.out.print(link, markup=False)
            front.out.file.flush()
            front.remark("Ctrl-C stops.")

    serve_page(
        front.brain(),
        port=port,
        read_only=read_only,
        follow=follow,
        opens_browser=opens,
        tell=tell,
    )
