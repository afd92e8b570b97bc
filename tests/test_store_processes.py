"""Several processes on one index, and processes that die: nothing torn, nothing lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from lancebrain.errors import IndexLockedError
from lancebrain.store import Store, handles
from lancebrain.types import Filter
from tests.stored import make_store, put, vector_of

PROJECT = Path(__file__).parent.parent

WRITER = """
import sys, time
from datetime import timedelta
from pathlib import Path
from lancebrain.store import Store
from tests.stored import batch
store = Store.open(Path(sys.argv[1]))
name, count = sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for number in range(count):
    rows = batch({f"{name}/{number}.md": [f"{name} text {number} {part}" for part in range(3)]})
    with store.lock(60):
        version = store.commit(rows, reason="sync", counts={"added": 1}, started=time.monotonic())
        if number % 7 == 6:
            store.maintain(keep_versions=timedelta(days=1))
    print(number, version, flush=True)
"""

HOLDER = """
import sys, time
from pathlib import Path
from lancebrain.store import Store
store = Store.open(Path(sys.argv[1]))
with store.lock(10):
    print("held", flush=True)
    sys.stdin.read()
"""


def start(program: str, store: Store, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(store.folder), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def test_two_processes_write_side_by_side_and_nothing_is_lost_or_doubled(store: Store) -> None:
    count = 10
    writers = [start(WRITER, store, name, count) for name in ("one", "two")]
    outputs = [writer.communicate(timeout=120)[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    versions = [int(v) for output in outputs for v in re.findall(r"^\d+ (\d+)$", output, re.M)]
    assert len(set(versions)) == 2 * count
    snapshot = store.snapshot()
    assert snapshot.stats().keys() == {
        f"{name}/{number}.md" for name in ("one", "two") for number in range(count)
    }
    rows = snapshot.to_arrow(["path", "chunk_index"]).to_pylist()
    assert len(rows) == len({tuple(row.values()) for row in rows}) == 2 * count * 4
    assert len(snapshot.keyword_candidates("text", Filter(), 1_000)) == 2 * count * 3
    recorded = {record.version for record in store.commits.read() if record.reason == "sync"}
    assert recorded == set(versions)


@pytest.mark.parametrize(
    "after_ms", [15, *(pytest.param(ms, marks=pytest.mark.slow) for ms in (0, 25, 40, 60, 90))]
)
def test_a_writer_killed_at_any_moment_leaves_the_last_whole_version(
    store: Store, after_ms: int
) -> None:
    put(store, {"n/first.md": ["text"]})
    writer = start(WRITER, store, "one", 1_000)
    assert writer.stdout is not None
    acknowledged: list[int] = []
    for line in writer.stdout:
        if line != "ready\n":
            acknowledged.append(int(line.split()[0]))
        if len(acknowledged) == 5:
            break
    time.sleep(after_ms / 1_000)  # the moment is what is tested
    writer.kill()
    rest, _ = writer.communicate(timeout=30)
    acknowledged += [int(line.split()[0]) for line in rest.splitlines() if line.endswith("\n")]
    opened = Store.open(store.folder)
    snapshot = opened.snapshot()
    documents = snapshot.stats().keys()
    assert documents >= {"n/first.md", *(f"one/{number}.md" for number in acknowledged)}
    for path in documents - {"n/first.md"}:
        assert len(snapshot.chunks([path])[path]) == 3
    assert {record.version for record in opened.commits.read()} <= set(range(snapshot.version + 1))
    put(opened, {"n/next.md": ["text after"]})
    with opened.lock(5):
        opened.maintain(keep_versions=timedelta(days=1))
    assert opened.snapshot().stats().keys() == documents | {"n/next.md"}
    assert len(opened.snapshot().keyword_candidates("after", Filter(), 10)) == 1


def test_the_lock_names_its_holder_and_goes_with_it(store: Store) -> None:
    holder = start(HOLDER, store)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(IndexLockedError, match=rf"process {holder.pid} since 20\d\d-") as caught:
        put_with_timeout(store, 0.05)
    assert "waited 0.05 s" in str(caught.value)
    os.kill(holder.pid, signal.SIGSTOP)
    with pytest.raises(IndexLockedError):
        put_with_timeout(store, 0)
    holder.kill()
    holder.communicate(timeout=30)
    put_with_timeout(store, 10)
    assert store.snapshot().document_count() == 0


def put_with_timeout(store: Store, timeout_s: float) -> None:
    with store.lock(timeout_s):
        pass


def test_a_lock_is_reentrant_in_its_thread_and_shuts_out_others(store: Store) -> None:
    other = Store.open(store.folder)
    refused: list[type[BaseException]] = []

    def try_both() -> None:
        for candidate in (store, other):
            try:
                put_with_timeout(candidate, 0)
            except IndexLockedError as error:
                refused.append(type(error))

    with store.lock(1), store.lock(1):
        thread = threading.Thread(target=try_both)
        thread.start()
        thread.join()
    assert len(refused) == 2
    refused.clear()
    try_both()
    assert refused == []


def test_nothing_of_the_store_is_said_on_stdout(store: Store, capfd: pytest.CaptureFixture) -> None:
    put(store, {"n/a.md": ["text"]})
    with store.lock(5):
        store.maintain(keep_versions=timedelta(days=1))
    store.snapshot().keyword_candidates("text", Filter(), 5)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_a_long_lived_handle_opens_its_table_anew_now_and_then_and_answers_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handles, "_SEEN_WITH_ONE", 3)
    store = make_store(tmp_path)
    connections = set()
    for number in range(10):
        put(store, {f"n/{number}.md": [f"alpha {number}"]})
        snapshot = store.snapshot()
        assert len(snapshot.keyword_candidates("alpha", Filter(), 20)) == number + 1
        with store.lock(1):
            store.set_vectors([(f"n/{number}.md", 0)], np.stack([vector_of("beta")]))
        connections.add(store._handles._connection)
    assert 3 <= len(connections) <= 8
