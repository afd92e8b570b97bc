"""LanceBrain, in the comparison with other ways to keep an index up to files."""

from __future__ import annotations

import time
from pathlib import Path

import lancebrain
from benchmarks.peers_tool import Held
from lancebrain.embedders import Embedder


class LanceBrain:
    """``brain.sync()`` in a process that stays."""

    name = "LanceBrain"

    def __init__(self, root: Path, store: Path, model: Embedder) -> None:
        self.root = root
        self.store = store
        self._model = model

    def start(self) -> float:
        """See :class:`benchmarks.peers_tool.Tool`."""
        started = time.perf_counter()
        self._brain = lancebrain.open(self.store, embedder=self._model)
        return time.perf_counter() - started

    def settle(self) -> float:
        """See :class:`benchmarks.peers_tool.Tool`."""
        started = time.perf_counter()
        self._brain.sync([self.root])
        return time.perf_counter() - started

    def stop(self) -> None:
        """See :class:`benchmarks.peers_tool.Tool`."""
        self._brain.close()

    def held(self) -> Held:
        """See :class:`benchmarks.peers_tool.Tool`."""
        rows = self._brain.to_arrow(["path", "text"]).to_pylist()
        return Held((row["path"], row["text"]) for row in rows if row["text"].strip())
