"""A folder of files with an index of it, for tests of sync: real files, a real table."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lancebrain.config import Settings
from lancebrain.store import Store
from lancebrain.sync import Change, Engine
from lancebrain.types import Problem, Source, SyncReport
from tests.health import assert_healthy
from tests.stand_in import StandIn
from tests.trees import Tree, write_tree


class Notes:
    """One source ``notes`` and its index, below a test's folder.

    Attributes:
        root: of the source; it exists, and is empty at first.
        embedder: counts what the index embeds.
        changes: of the last sync.
    """

    def __init__(self, folder: Path, *sources: Source, **settings: Any) -> None:
        self.root = folder / "notes"
        if not sources:
            self.root.mkdir(exist_ok=True)
        self.settings = Settings(
            index=folder / "index",
            sources=sources or (Source("notes", self.root),),
            model="tests.stand_in:make",
            **settings,
        )
        self.embedder = StandIn()
        self.changes: list[Change] = []
        self.store = Store.create(
            self.settings.index,
            model=self.settings.model,
            fingerprint=self.embedder.fingerprint,
            dim=self.embedder.dim,
        )

    def write(self, tree: Tree) -> Notes:
        write_tree(self.root, tree)
        return self

    def sync(self, paths: Sequence[str] | None = None, **options: Any) -> SyncReport:
        """Sync once; ``embedder`` then holds what this sync embedded."""
        self.embedder.reset()
        self.changes = []
        engine = Engine(self.store, self.settings, lambda: self.embedder)
        return engine.sync(paths, on_change=self.changes.append, **options)

    def synced(self, paths: Sequence[str] | None = None, **options: Any) -> SyncReport:
        """Sync once, and check that the index is what a fresh one would be."""
        report = self.sync(paths, **options)
        assert_healthy(self.store, self.settings, StandIn())
        return report

    def with_settings(self, **changes: Any) -> None:
        self.settings = self.settings.model_copy(update=changes)

    def paths(self) -> list[str]:
        return sorted(self.store.snapshot().stats())

    def texts(self, path: str) -> list[str]:
        chunks = self.store.snapshot().chunks([path]).get(path, [])
        return [row.chunk.text for row in chunks]

    def text(self, path: str) -> str:
        """A document's chunks, joined."""
        return "".join(self.texts(path))

    def everything(self) -> str:
        return "\n".join(self.text(path) for path in self.paths())


def codes(problems: Sequence[Problem]) -> set[tuple[str, str]]:
    return {(problem.path, problem.code) for problem in problems}


def set_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event
