"""What the tools share: arguments with their limits, the budget of a result, annotations."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field

MOST_TOKENS = 7_500
"""Of an answer, so that it leaves room for others in a conversation."""
FRAME_TOKENS = 400
"""Of it, for what is in every answer."""

Short = Annotated[str, Field(min_length=1, max_length=300)]


def listed(value: object) -> object:
    """One word where a list is wanted means a list of it: models often write it so."""
    return [value] if isinstance(value, str) else value


Words = Annotated[Annotated[list[Short], Field(max_length=20)] | None, BeforeValidator(listed)]
Kind = Literal["md", "text", "claude", "codex", "gemini", "jsonl"]
Cursor = Annotated[
    str | None,
    Field(max_length=200, description="From the answer before, with the same other arguments."),
]
At = Annotated[
    str | None,
    Field(
        max_length=100,
        description="Read the index as it was: a version (`42`), a checkpoint's name, or a time "
        "(`yesterday`, `7d`, `2026-11-29T10:00`). See history.",
    ),
]

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def note_uri(path: str) -> str:
    """The resource of a document."""
    return f"note://{quote(path, safe='/')}"
