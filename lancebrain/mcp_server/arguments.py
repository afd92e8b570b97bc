"""What the tools share: arguments with their limits, the budget of a result, annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

MOST_TOKENS = 7_500
"""Of an answer, so that it leaves room for others in a conversation."""
FRAME_TOKENS = 400
"""Of it, for what is in every answer."""

HASH = "^[0-9a-fA-F]{64}$"
TAG = r"^[^\s,#\[\]]+$"
NOT_BLANK = r"\S"


class OrNone:
    """Makes ``str`` optional without a union: the SDK reads the text of an argument that is
    annotated with any other type as JSON, so that a note's ``{}`` would not stay text."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.nullable_schema(handler(source))


Short = Annotated[str, Field(min_length=1, max_length=300)]
Path = Annotated[str, Field(min_length=1, max_length=1_000)]
Hash = Annotated[str, Field(pattern=HASH)]
Text = Annotated[str, Field(max_length=1_000_000)]
_Time = Annotated[str, Field(max_length=100)]
_Cursor = Annotated[str, Field(max_length=200)]
if TYPE_CHECKING:
    PathOrNone = str | None
    HashOrNone = str | None
    TextOrNone = str | None
    TimeOrNone = str | None
    CursorOrNone = str | None
else:
    PathOrNone = Annotated[Path, OrNone()]
    HashOrNone = Annotated[Hash, OrNone()]
    TextOrNone = Annotated[Text, OrNone()]
    TimeOrNone = Annotated[_Time, OrNone()]
    CursorOrNone = Annotated[_Cursor, OrNone()]


def listed(value: object) -> object:
    """One word where a list is wanted means a list of it: models often write it so."""
    return [value] if isinstance(value, str) else value


Words = Annotated[Annotated[list[Short], Field(max_length=20)] | None, BeforeValidator(listed)]
Kind = Literal["md", "text", "claude", "codex", "gemini", "jsonl"]
Cursor = Annotated[
    CursorOrNone,
    Field(description="From the answer before, with the same other arguments."),
]
At = Annotated[
    TimeOrNone,
    Field(
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
