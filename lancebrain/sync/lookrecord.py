"""What the last full look could not take in, kept beside the table so that every status tells it.

Problems of documents are in their document rows. These here have no document: a file that is too
large, a folder that may not be entered, a root that is not there, removals that wait.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lancebrain.store import write_beside
from lancebrain.types import Problem


class LookRecord:
    """The record of one index folder; losing it costs nothing but the next look."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "look.json"

    def read(self) -> tuple[Problem, ...]:
        """The problems of the last full look."""
        try:
            entries = json.loads(self._file.read_text(encoding="utf-8"))
            return tuple(Problem(e["path"], e["code"], e["message"]) for e in entries)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return ()

    def write(self, problems: Sequence[Problem]) -> None:
        """Remember the problems of a full look; the caller holds the index lock.

        Raises:
            StoreError: the folder cannot be written, or is full.
        """
        ordered = sorted(set(problems), key=lambda problem: (problem.path, problem.code))
        if tuple(ordered) == self.read():
            return
        text = json.dumps([asdict(p) for p in ordered], ensure_ascii=False, indent=0)
        write_beside(self._folder, self._file.name, text)
