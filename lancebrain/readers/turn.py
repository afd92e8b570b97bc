"""One turn of a conversation, and its time and its heading as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime

from wcwidth import wcwidth

TITLE_WIDTH = 80
"""Display columns of a question where it stands above its answers, and of a title."""


@dataclass(slots=True)
class Turn:
    """One thing said.

    Attributes:
        text: stripped, never blank; its secrets are masked once the conversation is finished.
        line: of the log, from 1.
        masked: secrets masked in it.
        asks: the turns after it answer it.
        alone: the turns before it are another conversation.
        spare: of a copy, the role that has to say nothing of the first rank for it to count.
        tags: such as ``subagent``; only a question with the same tags is answered.
    """

    role: str
    text: str
    line: int
    said_at: datetime | None
    asks: bool
    alone: bool
    spare: str
    tags: tuple[str, ...]
    masked: int = 0


def moment(value: object) -> datetime | None:
    """A time as logs write it: ISO 8601 (UTC where no zone is given), or seconds or milliseconds
    since 1970; None for anything else."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > 100_000_000_000 else value
            time = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    # At the ends of the calendar, the time elsewhere in the world cannot be told.
    return time if MINYEAR < time.year < MAXYEAR else None


def one_line(text: str, width: int = TITLE_WIDTH) -> str:
    """The beginning of a text as one line of at most ``width`` display columns."""
    line = " ".join(text[: 20 * width].split())
    if line.isascii():
        return line if len(line) <= width else line[:width].rstrip() + "…"
    columns = 0
    for place, character in enumerate(line):
        columns += 1 if character.isascii() else max(wcwidth(character), 0)
        if columns > width:
            return line[:place].rstrip() + "…"
    return line
