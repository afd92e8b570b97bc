"""Several processes on one index, and processes that are killed in the middle of anything.

``KILL_ROUNDS`` in the environment asks for more kills than a quick run makes, and ``KILL_SEED``
for others.
"""

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

ROUNDS = int(os.environ.get("KILL_ROUNDS", "2"))
SEED = int(os.environ.get("KILL_SEED", "5"))
PARTS = 7

EDITING = """
import random, sys, time
from pathlib import Path
from lancebrain.errors import IndexLockedError
from lancebrain.store import lock
from tests.indexes import Notes
folder, mine = Path(sys.argv[1]), sys.argv[2]
if sys.argv[3:]:
    lock._PULSE_S, lock.STILL_S = 1e6, float(sys.argv[3])
def sync():
    while True:
        try:
            return notes.sync()
        except IndexLockedError as error:
            print(error, flush=True)
            time.sleep(random.uniform(0, 0.3))
notes = Notes(folder)
print("ready", flush=True)
for number in range(10_000):
    for name in range(number % 7, 140, 7):
        notes.write({f"{mine}/{name}.md": f"# Note {name}\\n\\nEdit {number} of {name}.\\n"})
    if (notes.root / mine / "0.md").exists():
        (notes.root / mine / "0.md").rename(notes.root / mine / f"moved{number}.md")
    sync()
    print(number, flush=True)
    if (folder / "rest").exists():
        print("rests", flush=True)
        while (folder / "rest").exists():
            time.sleep(0.02)
"""

READING = """
import sys
from pathlib import Path
from tests.test_sync_processes import wholeness
from lancebrain.store import Store
from lancebrain.types import Filter
folder, reads, fault = Path(sys.argv[1]), 0, ""
store = Store.open(folder / "index")
print("ready", flush=True)
while not fault:
    snapshot = store.snapshot()
    fault = wholeness(snapshot)
    snapshot.keyword_candidates("edit", Filter(), 20)
    reads += 1
    (folder / "reads.new").write_text(str(reads))
    (folder / "reads.new").replace(folder / "reads")
print(fault)
"""


@contextmanager
def running(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready for work; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def said(process: subprocess.Popen[str], part: str = "") -> str:
    """The next line that a process says, in which there is a certain part."""
    assert process.stdout is not None
    while True:
        heard = process.stdout.readline()
        assert heard, "it ended by itself"
        if part in heard:
            return heard.rstrip()


def wholeness(snapshot: object) -> str:
    """What is wrong with a version: documents in part, chunks without one; "" if nothing is."""
    documents = snapshot.documents()  # type: ignore[attr-defined]
    chunks = snapshot.chunks(list(documents))  # type: ignore[attr-defined]
    for path, state in documents.items():
        text = "".join(row.chunk.text for row in chunks.get(path, []))
        if len(text.encode()) != state.size:
            return f"{path} is not whole: {text!r}"
    return ""


def acknowledged(process: subprocess.Popen[str]) -> int:
    """The last edit whose sync had returned when the process was killed; -1 for none."""
    assert process.stdout is not None
    lines = process.stdout.read().splitlines(keepends=True)
    numbers = [int(line) for line in lines if line.endswith("\n") and line.strip().isdigit()]
    return numbers[-1] if numbers else -1


def assert_nothing_is_lost(folder: Path, mine: str, number: int) -> None:
    """Every edit up to this one, or a later one, is in the index."""
    chunks = (
        Store.open(folder / "index")
        .snapshot()
        .chunks([f"notes/{mine}/{name}.md" for name in range(1, PARTS)])
    )
    for name in range(1, PARTS):
        last = number - (number - name) % PARTS
        if last >= 0:
            text = "".join(row.chunk.text for row in chunks[f"notes/{mine}/{name}.md"])
            assert int(text.split("Edit ")[1].split()[0]) >= last, (name, number, text)


@pytest.mark.slow
def test_processes_that_are_killed_leave_an_index_that_is_whole_and_lose_nothing(
    tmp_path: Path,
) -> None:
    """While two other processes write to it and read it."""
    source = random.Random(SEED)
    rest = tmp_path / "rest"
    Notes(tmp_path)
    with running(EDITING, tmp_path, "b") as writer, running(READING, tmp_path) as reader:
        for _ in range(ROUNDS):
            with running(EDITING, tmp_path, "a") as killed:
                time.sleep(source.uniform(0, 1.5))  # the moment is what is tested
                killed.kill()
                number = acknowledged(killed)
            assert wholeness(Store.open(tmp_path / "index").snapshot()) == ""
            assert_nothing_is_lost(tmp_path, "a", number)
            rest.touch()
            said(writer, "rests")
            notes = Notes(tmp_path)
            notes.sync()
            assert_healthy(notes.store, notes.settings, StandIn())
            rest.unlink()
            assert reader.poll() is None, said(reader)
        assert int((tmp_path / "reads").read_text()) > ROUNDS


@pytest.mark.slow
def test_two_processes_that_sync_one_index_end_with_what_is_on_the_disk(tmp_path: Path) -> None:
    with running(EDITING, tmp_path, "a") as first, running(EDITING, tmp_path, "b") as second:
        for _ in range(4):
            said(first)
            said(second)
    assert wholeness(Store.open(tmp_path / "index").snapshot()) == ""
    notes = Notes(tmp_path)
    notes.sync()
    assert_healthy(notes.store, notes.settings, StandIn())


@pytest.mark.slow
def test_processes_that_take_the_lock_from_each_other_all_the_time_do_no_harm(
    tmp_path: Path,
) -> None:
    """Each takes any other for one that stands still, as soon as it has to wait a little."""
    Notes(tmp_path)
    with running(EDITING, tmp_path, "a", 0.1) as one, running(EDITING, tmp_path, "b", 0.1) as two:
        for _ in range(ROUNDS):
            said(one, "took over")
            said(two, "took over")
    notes = Notes(tmp_path)
    notes.synced()
    notes.write({"a/1.md": "Edited.\n"}).synced()
