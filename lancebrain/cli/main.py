"""The program ``lancebrain``: the outermost layer, which turns a command line into calls of the
facade and what they return into text, JSON and an exit code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

# Imported for the commands that they add.
from lancebrain.cli import (
    analyze,
    asking,
    indexing,
    keeping,
    models,
    serving,
    sources,
    timeline,
    ui,
    undoing,
)
from lancebrain.cli.app import app, describe
from lancebrain.cli.exits import ERROR, INTERRUPTED
from lancebrain.errors import LancebrainError

__all__ = [
    "analyze", "asking", "indexing", "keeping", "main", "models", "serving", "sources", "timeline",
    "ui", "undoing",
]  # fmt: skip


def _print_version(wanted: bool) -> None:
    if wanted:
        from lancebrain import __version__

        typer.echo(f"lancebrain {__version__}")
        raise typer.Exit


describe(
    app,
    "Search your notes, in any language, and never find them stale.",
    version=(
        Annotated[
            bool,
            typer.Option(
                "--version", callback=_print_version, is_eager=True, help="Print the version."
            ),
        ],
        False,
    ),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and leave with its exit code.

    Args:
        arguments: the command line without the program's name; None for the process's own.

    Raises:
        SystemExit: always.
    """
    for stream in (sys.stdout, sys.stderr):
        # A name that is no text in the terminal's encoding is shown escaped instead of failing.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int | str | None:
    try:
        try:
            app(args=arguments, prog_name="lancebrain")
        except SystemExit as done:
            sys.stdout.flush()
            return done.code
    except LancebrainError as error:
        _tell(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on; without this, Python complains once more while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR
    except Exception as error:  # the last resort, so that nobody gets a traceback
        if os.environ.get("LANCEBRAIN_DEBUG"):
            raise
        _tell(
            f"Unexpected {type(error).__name__}: {error}",
            "This is a mistake in LanceBrain; LANCEBRAIN_DEBUG=1 shows where.",
        )
        return ERROR
    return 0


def _tell(message: str, hint: str = "") -> None:
    from rich.console import Console

    err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    err.print("[bold red]Error:[/] ", end="")
    err.print(message, markup=False)
    if hint:
        err.print(f"  {hint}", markup=False, style="dim")
