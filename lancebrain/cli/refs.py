"""How versions are named on the command line."""

from __future__ import annotations

from typing import Annotated

import typer

REF_HELP = "A number, a checkpoint, latest~1, or a time: yesterday, 2d, 2026-11-29T10:00."

At = Annotated[
    str | None,
    typer.Option("--at", metavar="REF", show_default=False, help=f"As of a version. {REF_HELP}"),
]
"""The option of every command that answers."""
