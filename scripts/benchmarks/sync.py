"""What edits cost: embeddings, rows and time, beside a first index of the same files.

A long log with one line inserted at the top, in the middle and at the end, then random one-line
edits of a folder of Markdown, then a sync with no change beside a plain walk with ``stat``.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import lancebrain
from benchmarks.measure import NoModel, TimedEmbedder, median_seconds, say, walk_seconds

_WORDS = ["harbour", "pier", "keel", "sail", "rope", "anchor", "tide", "storm", "lamp", "bell"]


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py sync", description=__doc__)
    parser.add_argument("folder", type=Path, help="Markdown to edit a copy of")
    parser.add_argument("--log-megabytes", type=int, default=50)
    parser.add_argument("--edits", type=int, default=200)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        _log(Path(scratch), options.log_megabytes)
        _notes(Path(scratch), options.folder, options.edits)
    return 0


def _log(scratch: Path, megabytes: int) -> None:
    rng = random.Random(1)
    root = scratch / "log"
    root.mkdir()
    lines: list[str] = []
    size = 0
    while size < megabytes * 1_000_000:
        words = " ".join(rng.choices(_WORDS, k=rng.randrange(4, 14)))
        lines.append(f"2026-05-01T{len(lines) % 86400:05} INFO {words} id={rng.randrange(10**6)}\n")
        size += len(lines[-1])
    file = root / "service.log"
    file.write_text("".join(lines))
    embedder = TimedEmbedder(NoModel())
    with lancebrain.open(scratch / "log-index", embedder=embedder) as brain:
        started = time.perf_counter()
        first = brain.sync([root])
        first_seconds = time.perf_counter() - started
        print(f"log of {megabytes} MB: {first.rows_written} rows, {first_seconds:.1f} s, no model")
        for name, at in (("top", 0), ("middle", len(lines) // 2), ("end", len(lines))):
            lines.insert(at, f"2026-05-02T00000 WARN inserted at the {name}\n")
            file.write_text("".join(lines))
            started = time.perf_counter()
            report = brain.sync()
            seconds = time.perf_counter() - started
            print(
                f"  a line at the {name}: {report.embedded} embedded, {report.rows_written} rows "
                f"written = {report.rows_written / first.rows_written:.3%}, {seconds:.2f} s = "
                f"1/{first_seconds / seconds:.0f} of the first index"
            )


def _notes(scratch: Path, folder: Path, edits: int) -> None:
    rng = random.Random(2)
    root = scratch / "notes"
    shutil.copytree(folder, root)
    files = sorted(root.rglob("*.md"))
    with lancebrain.open(scratch / "notes-index", embedder=TimedEmbedder(NoModel())) as brain:
        brain.sync([root])
        embedded = rows = 0
        seconds = []
        for number in range(edits):
            file = rng.choice(files)
            lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines(True)
            at = rng.randrange(len(lines) + 1)
            lines.insert(at, f"A line of edit {number}, {rng.random()}.\n")
            file.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
            started = time.perf_counter()
            report = brain.sync([file])
            seconds.append(time.perf_counter() - started)
            embedded += report.embedded
            rows += report.rows_written
            if number % 50 == 0:
                say(f"{number} edits")
        print(
            f"{edits} edits of {len(files)} notes: {embedded / edits:.2f} embedded and "
            f"{rows / edits:.2f} rows written an edit, median {np.median(seconds) * 1000:.0f} ms"
        )
        walked = median_seconds(lambda: walk_seconds(root), 7)
        looked = median_seconds(brain.sync, 7)
        print(
            f"no change: {looked * 1000:.0f} ms, plain walk with stat {walked * 1000:.0f} ms, "
            f"ratio {looked / walked:.2f}"
        )
