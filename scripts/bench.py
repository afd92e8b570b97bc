"""Benchmarks: ``python scripts/bench.py NAME [ARGUMENTS]``, each NAME with its own ``--help``.

Figures compare things within one run, as machines are noisy. Results go to stdout, progress to
stderr.
"""

from __future__ import annotations

import importlib
import sys

_BENCHMARKS = {
    "index": "a first index, a second look: time and memory, and how much of it is the model",
    "search": "the time of a question at a number of chunks, beside the model's own time",
    "data": "the index as tables, vectors, SQL and a map; each analysis: time and memory",
    "scale": "a million chunks: build, open, search, recall, an edit",
    "remote": "requests to object storage: a first index, an edit, a question",
    "ray_build": "a first index with Ray workers beside one without",
    "quality": "nDCG@10 on labelled questions: keyword, vector, fused",
    "models": "models: filling in, the first question, changing to another, threads",
    "versions": "rolling back and forth; many edits: room, time, answers as of checkpoints",
    "page": "the page in a Chromium: first paint, search, the map",
    "mcp": "the server: start, save to searchable, bulk loads, many clients",
    "sync": "embeddings, rows and time after edits of all kinds",
    "peers": "the same edits given to other tools: embeddings, time, and what is wrong then",
    "sessions": "reading session logs, beside a plain read",
}


def main(argv: list[str]) -> int:
    """Run one benchmark and return its exit code."""
    if not argv or argv[0] not in _BENCHMARKS:
        print(__doc__)
        for name, what in _BENCHMARKS.items():
            print(f"  {name:10} {what}")
        return 0 if argv in ([], ["--help"], ["-h"]) else 2
    benchmark = importlib.import_module(f"benchmarks.{argv[0]}")
    result: int = benchmark.main(argv[1:])
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
