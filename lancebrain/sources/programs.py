"""Where programs keep the session logs of this person: the sources that are added by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DOMAIN = "sessions"
"""Of the sources that are made here."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that keeps session logs.

    Attributes:
        kind: of its logs.
        variable: that names its folder; ``""`` for none.
        folder: below the home folder, where there is no variable.
        below: where in it the logs are.
        include: patterns of the folders there that hold logs; empty for all.
    """

    kind: str
    variable: str
    folder: str
    below: str = ""
    include: tuple[str, ...] = ()

    def root(self, environ: Mapping[str, str], home: Path) -> Path:
        """The folder of its logs, whether it is there or not."""
        named = environ.get(self.variable, "") if self.variable else ""
        return (Path(named).expanduser() if named else home / self.folder) / self.below


PROGRAMS: Mapping[str, Program] = {
    "claude": Program("claude", "CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "codex": Program(
        "codex", "CODEX_HOME", ".codex", include=("/sessions/", "/archived_sessions/")
    ),
    "gemini": Program("gemini", "", ".gemini", "tmp", include=("chats/",)),
}
"""By the name that a person calls it."""
