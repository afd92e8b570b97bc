"""Several processes on one index, and processes that are killed in the middle of anything."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lancebrain.store import Store
from tests.health import assert_healthy
from tests.indexes import Notes
from tests.stand_in import StandIn

ROUNDS = int(os.environ.get("KILL_ROUNDS", "3"))

EDITING = """
import sys
from pathlib import Path
from tests.indexes import Notes
notes, mine = Notes(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
for number in range(10_000):
    for name in range(number % 7, 140, 7):
        notes.write({f"{mine}/{name}.md": f"# Note {name}\\n\\nEdit {number} of {name}.\\n"})
    if number % 5 == 4:
        notes.root.joinpath(mine, "0.md").rename(notes.root / mine / f"moved{number}.md")
    notes.sync()
    print(number, flush=True)
"""


@contextmanager
def editing(folder: Path, mine: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that edits notes and syncs after each round of edits; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", EDITING, str(folder), mine],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def assert_every_document_is_whole(folder: Path) -> None:
    seen = Store.open(folder / "index").snapshot()
    documents = seen.documents()
    chunks = seen.chunks(list(documents))
    assert chunks.keys() <= documents.keys()
    for path, state in documents.items():
        text = "".join(row.chunk.text for row in chunks.get(path, []))
        assert len(text.encode()) == state.size, path


@pytest.mark.slow
def test_an_index_whose_process_is_killed_is_whole_and_right_after_the_next_sync(
    tmp_path: Path,
) -> None:
    source = random.Random(5)
    for _ in range(ROUNDS):
        with editing(tmp_path, "a"):
            time.sleep(source.uniform(0, 1.5))
        assert_every_document_is_whole(tmp_path)
        notes = Notes(tmp_path)
        notes.sync()
        assert_healthy(notes.store, notes.settings, StandIn())


@pytest.mark.slow
def test_two_processes_that_sync_one_index_end_with_what_is_on_the_disk(tmp_path: Path) -> None:
    with editing(tmp_path, "a") as first, editing(tmp_path, "b") as second:
        assert first.stdout is not None
        assert second.stdout is not None
        for _ in range(4):
            first.stdout.readline()
            second.stdout.readline()
    assert_every_document_is_whole(tmp_path)
    notes = Notes(tmp_path)
    notes.sync()
    assert_healthy(notes.store, notes.settings, StandIn())
