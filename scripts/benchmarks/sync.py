"""Keeping up with the files: what edits cost, and how soon they can be found.

log    lines inserted into a long log: embeddings, rows and time, beside its first index
notes  random edits of a folder of notes: embeddings and rows an edit
look   a sync with no change, beside a plain walk with ``stat``
start  a keyword question to the command, from the start of its process, beside importing LanceDB
live   ``sync --watch``: saves, branches switched, and an edit while very many files are copied in

Without a name, all of them. FOLDER is Markdown of any kind; it is copied and never written to.
``log`` and ``live`` use the default model, the others none.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lancebrain
from benchmarks import sync_edits, sync_live
from benchmarks.measure import NoModel, median_seconds, say, walk_seconds
from lancebrain.store import Store
from lancebrain.sync import Engine

_RUNS = 9


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(
        prog="bench.py sync",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", nargs="*", choices=["log", "notes", "look", "start", "live", []])
    parser.add_argument("--log-megabytes", type=int, default=50)
    parser.add_argument("--notes", type=int, default=2_000, help="files that are edited at random")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--files", type=int, default=10_000, help="of look, start and live")
    parser.add_argument("--saves", type=int, default=60)
    options = parser.parse_args(argv)
    parts = options.part or ["log", "notes", "look", "start", "live"]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        if "log" in parts:
            sync_edits.log(scratch, options.log_megabytes)
        if "notes" in parts:
            root = _copied(options.folder, scratch / "notes", options.notes)
            sync_edits.notes(root, scratch / "notes-index", options.edits)
        if "look" in parts or "start" in parts:
            _unchanged(_copied(options.folder, scratch / "many", options.files), scratch, parts)
        if "live" in parts:
            sync_live.follow(scratch, options.files, options.saves)
    return 0


def _unchanged(root: Path, scratch: Path, parts: list[str]) -> None:
    index = scratch / "many-index"
    say("indexing, without a model")
    with lancebrain.open(index, embedder=NoModel()) as brain:
        brain.sync([root])
        if "look" in parts:
            _look(brain, root)
    if "start" in parts:
        _start(index)


def _look(brain: lancebrain.Brain, root: Path) -> None:
    store = Store.open(brain.settings.index)

    def look_anew() -> None:
        """As a process does that has just begun, but for opening the table."""
        Engine(store, brain.settings, NoModel).sync()

    ratios: dict[str, list[float]] = {"server": [], "process that just began": []}
    for _ in range(3):
        walked = median_seconds(lambda: walk_seconds(root), _RUNS)
        ratios["server"].append(median_seconds(brain.sync, _RUNS) / walked)
        ratios["process that just began"].append(median_seconds(look_anew, _RUNS) / walked)
    files = walk_seconds(root)[1]
    print(f"no change, {files} files; a plain walk with stat takes {walked * 1000:.0f} ms")
    for who, found in ratios.items():
        print(f"  look of a {who}: {min(found):.2f} to {max(found):.2f} times that")


def _start(index: Path) -> None:
    python = [sys.executable]
    search = [*python, "-m", "lancebrain", "search", "Linux", "--mode", "keyword"]

    def answer() -> None:
        done = subprocess.run(
            [*search, "--index", str(index)], capture_output=True, text=True, check=True
        )
        assert "Linux" in done.stdout

    def import_lancedb() -> None:
        subprocess.run([*python, "-c", "import lancedb"], check=True)

    answer()
    import_lancedb()
    pairs = [(median_seconds(answer, 1), median_seconds(import_lancedb, 1)) for _ in range(_RUNS)]
    answered, imported = (sorted(times)[_RUNS // 2] for times in zip(*pairs, strict=True))
    print(
        f"warm start: a keyword answer {answered * 1000:.0f} ms after the start of the process, "
        f"import lancedb {imported * 1000:.0f} ms, ratio {answered / imported:.2f}"
    )


def _copied(folder: Path, root: Path, files: int) -> Path:
    """A copy of the first so many Markdown files."""
    for file in sorted(folder.rglob("*.md"))[:files]:
        copy = root / file.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    return root
