"""What every command is given: where the index is, how to answer, where results and remarks go.

stdout carries results and nothing else; remarks, progress and errors go to stderr.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from lancebrain.brain import Brain


@dataclass(frozen=True)
class Front:
    """The options that all commands share, and what follows from them.

    Attributes:
        index: ``--index``, a folder or a URI, else None: as configured.
        config_file: ``--config``, else None: as found.
        as_json: print the result as JSON.
    """

    index: str | None = None
    config_file: Path | None = None
    as_json: bool = False

    def merged(self, later: Front) -> Front:
        """These options, overridden by those that stood later on the command line."""
        return Front(
            later.index or self.index,
            later.config_file or self.config_file,
            later.as_json or self.as_json,
        )

    def brain(self) -> Brain:
        """The facade for these options; nothing is opened or loaded yet."""
        from lancebrain.brain import open as open_brain

        return open_brain(self.index, config_file=self.config_file)

    @cached_property
    def out(self) -> Console:
        """For results."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """For everything that is not a result."""
        return _console(stderr=True)

    def emit(self, value: object, *, indent: int | None = 2) -> None:
        """Print a result as one JSON document, at once."""
        from lancebrain.machine import to_json

        sys.stdout.write(to_json(value, indent=indent) + "\n")
        sys.stdout.flush()

    def remark(self, text: str) -> None:
        """Tell a person something that is not part of the result."""
        self.err.print(text, style="dim", markup=False)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # A pipe has no width: its lines are left as long as they are, for the next program to read.
    width = None if stream.isatty() or "COLUMNS" in os.environ else 10_000
    return Console(stderr=stderr, highlight=False, emoji=False, width=width)
