"""Where the program begins: at once for ``serve``, with everything else for the rest.

A program that starts a server waits for its first answer, and reading a command line with all
commands takes a tenth of that time. So the plain forms of ``serve`` are understood here; any
other goes the whole way.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

_FLAGS = frozenset({"--read-only", "--no-follow", "--shared", "--alone"})
_FOLDERS = frozenset({"--index", "--config"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and leave with its exit code.

    Args:
        arguments: the command line without the program's name; None for the process's own.

    Raises:
        SystemExit: always.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = plain_serve(words)
    if options is not None:
        _serve(options)
    from lancebrain.cli.main import main as run

    run(words)


def plain_serve(words: Sequence[str]) -> dict[str, str] | None:
    """The options of a plain ``serve`` over stdio; None when it is anything else."""
    if not words or words[0] != "serve":
        return None
    options: dict[str, str] = {}
    rest = iter(words[1:])
    for word in rest:
        if word in _FLAGS:
            options[word] = ""
        elif word in _FOLDERS:
            value = next(rest, "")
            if not value or value.startswith("-"):
                return None
            options[word] = value
        else:
            return None
    return None if {"--shared", "--alone"} <= options.keys() else options


def _serve(options: dict[str, str]) -> NoReturn:
    from lancebrain.cli.front import Front
    from lancebrain.cli.stdio import serve_over_stdio

    config = options.get("--config")
    serve_over_stdio(
        Front(options.get("--index"), Path(config) if config else None),
        read_only="--read-only" in options,
        follow="--no-follow" not in options,
        shared="--alone" not in options,
    )
