"""Errors of the facade → what a client is told: one place, and never a stack trace."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lancebrain.errors import (
    ConfigError,
    EmbedderError,
    IndexLockedError,
    IndexNotFoundError,
    LancebrainError,
)
from lancebrain.mcp_server.quoting import plain

_MOST_CHARS = 2_000
log = logging.getLogger("lancebrain.mcp")

_NEXT: tuple[tuple[type[LancebrainError], str], ...] = (
    (IndexNotFoundError, "The owner indexes a folder with: lancebrain sync FOLDER"),
    (IndexLockedError, "Another process is writing; try again in a few seconds."),
    (ConfigError, "The owner corrects the configuration and starts the server again."),
    (EmbedderError, "`lancebrain doctor` tells more."),
)
# Commands that hints name for a person, and the tools that do the same.
_TOOLS = {
    "`lancebrain search`": "search_knowledge",
    "`lancebrain history`": "history",
    "lancebrain show": "get_detail",
}


def told(error: LancebrainError) -> str:
    """What went wrong and what to do next, in words that hold for a client."""
    hint = error.hint
    if not hint:
        hint = next((text for kind, text in _NEXT if isinstance(error, kind)), "")
    for command, tool in _TOOLS.items():
        hint = hint.replace(command, tool)
    words = re.sub(r"\s+", " ", plain(f"{error.message} {hint}")).strip()
    return words[:_MOST_CHARS]


@contextmanager
def translated(into: Callable[[str], Exception]) -> Iterator[None]:
    """Raise what a client is to be told of instead of what went wrong.

    Args:
        into: the exception of the kind of request: ``ToolError`` or ``ResourceError``.
    """
    try:
        yield
    except LancebrainError as error:
        raise into(told(error)) from error
