"""Asking a person before something is changed that they may not expect."""

from __future__ import annotations

import sys

from lancebrain.cli.front import Front
from lancebrain.errors import UsageError


def confirmed(front: Front, question: str, *, yes: bool) -> bool:
    """Whether to go on.

    Args:
        yes: it was said on the command line already.

    Raises:
        UsageError: there is nobody to ask.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            f"{question} Nobody is there to answer.",
            hint="Add --yes to go on, or --dry-run to see what would be done.",
        )
    front.err.print(f"{question} [y/N] ", end="", markup=False)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    front.remark("Nothing was done.")
    return False
