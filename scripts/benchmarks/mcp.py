"""What the server costs, part by part: see ``bench.py mcp --help``.

Linux alone: memory and processor time of the servers are read from ``/proc``.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from benchmarks import mcp_many, mcp_saving
from benchmarks.mcp_notes import fill_index, write_notes
from benchmarks.mcp_serving import Served, serve
from benchmarks.measure import say

_EMPTY = "from mcp.server import MCPServer; MCPServer('empty').run()"


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py mcp", description=__doc__)
    parser.add_argument("part", choices=sorted(_PARTS))
    parser.add_argument("texts", type=Path, help="Markdown to make notes of")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=120, help="of a load")
    parser.add_argument(
        "--scratch", type=Path, help="a folder whose notes and index are used again"
    )
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as made:
        place = options.scratch or Path(made)
        notes, index = place / "notes", place / "index"
        if not notes.exists():
            say(f"writing {options.notes} notes")
            write_notes(options.texts, notes, options.notes)
            fill_index(index, notes)
        _PARTS[options.part](options, notes, index)
    return 0


def _start(options: argparse.Namespace, notes: Path, index: Path) -> None:
    """Process start to the answer to tools/list, beside a server without anything."""
    del notes
    seconds: dict[str, list[float]] = {"empty": [], "lancebrain": []}
    memory: dict[str, list[float]] = {"empty": [], "lancebrain": []}
    for number in range(options.runs + 1):
        for name in seconds:
            one = Served(["-c", _EMPTY]) if name == "empty" else serve(index, "--alone")
            took = one.introduce()
            resident, _ = one.memory_mb()
            one.end()
            if number:  # the first of each fills the caches of the system
                seconds[name].append(took)
                memory[name].append(resident)
    for what, unit, measured in (
        ("start to tools/list", "s", seconds),
        ("resident memory then", "MB", memory),
    ):
        own, empty = (statistics.median(measured[name]) for name in ("lancebrain", "empty"))
        print(f"{what}: {own:.2f} {unit}, empty MCPServer {empty:.2f} {unit}: {own / empty:.2f} x")


_PARTS = {
    "start": _start,
    "save": mcp_saving.save,
    "bulk": mcp_saving.bulk,
    "many": mcp_many.many,
    "load": mcp_many.load,
}
