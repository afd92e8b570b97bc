"""How files are read: the settings that a document depends on, told on its media type.

``application/json; read=1f0c9a77`` is a log that was read with certain options,
``text/markdown; secrets=masked`` a note without its secrets. A look compares this with what the
settings ask for now, so that a switch takes effect at the next sync, document by document,
whatever version of the index a rollback brought back.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lancebrain.kinds import LOGS
from lancebrain.readers.secrets import MASKED
from lancebrain.types import Source

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.readers.session import SessionOptions

REFUSED = ""
"""The kind of a document that no reader takes: known, with its problem, and without chunks."""


class Manner:
    """How the files of a source are read under these settings."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._settings = settings
        self._marks: dict[str, str] = {REFUSED: ""}

    @property
    def masks_notes(self) -> bool:
        """Whether secrets are masked in what is not a log, too."""
        return self._settings.mask_secrets == "all"

    def log_options(self) -> SessionOptions:
        """For the readers of session logs."""
        from lancebrain.readers.jsonl import Fields
        from lancebrain.readers.session import SessionOptions

        return SessionOptions(
            subagents=self._settings.subagent_logs,
            mask_secrets=self._settings.mask_secrets != "none",
            fields=Fields.named(self._source.fields),
        )

    def marked(self, kind: str, mime: str) -> str:
        """The media type of a document of this kind with how it is read."""
        return mime + self._mark(kind)

    def is_of(self, kind: str, marked: str) -> bool:
        """Whether a document with this media type was read so."""
        mime = marked.partition(";")[0]
        return marked == self.marked(kind, mime)

    def _mark(self, kind: str) -> str:
        if kind not in self._marks:
            self._marks[kind] = self._mark_of(kind)
        return self._marks[kind]

    def _mark_of(self, kind: str) -> str:
        if kind in LOGS:
            from lancebrain.readers.session import VERSION

            how = f"{VERSION} {self.log_options()!r}"
            return f"; read={hashlib.sha256(how.encode()).hexdigest()[:8]}"
        return MASKED if self.masks_notes else ""
