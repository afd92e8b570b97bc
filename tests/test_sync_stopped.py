"""A process that is stopped, or hangs, while it holds the lock: others go on, and it writes nothing
more of what it had planned."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lancebrain.errors import IndexLockedError, StoreError
from lancebrain.store import durably, lock, vector_cache
from tests.health import assert_healthy
from tests.indexes import Notes
from tests.stand_in import StandIn

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs signals of POSIX")

SYNCING = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
from lancebrain.errors import IndexLockedError
from lancebrain.store import Store, lock
from lancebrain.store.commit_log import CommitLog
from lancebrain.store.writer import Writer
from tests.indexes import Notes

commit, durably, record = Store.commit, Writer.durably, CommitLog.record
lock._PULSE_S = 0.1

def stop():
    os.kill(os.getpid(), signal.SIGSTOP)

def before_it_writes(self, *arguments, **options):
    stop()
    return commit(self, *arguments, **options)

@contextmanager
def while_it_writes(self):
    with durably(self) as table:
        stop()
        yield table

def after_it_wrote(self, *arguments):
    stop()
    return record(self, *arguments)

def hang(self, *arguments, **options):
    print("hangs", flush=True)
    sys.stdin.readline()
    return commit(self, *arguments, **options)

for line in iter(sys.stdin.readline, ""):
    if line == "go on\\n":
        continue
    where, folder = line.rstrip().split(" ", 1)
    notes = Notes(Path(folder))
    Store.commit = {"before": before_it_writes, "hangs": hang, "slow": hang}.get(where, commit)
    Writer.durably = while_it_writes if where == "while" else durably
    CommitLog.record = after_it_wrote if where == "after" else record
    lock._LONGEST_S = 0.2 if where == "hangs" else 300
    if where == "maintenance":
        with notes.store.lock(1), notes.store._lock.alone():
            stop()
    try:
        notes.sync()
        print("done", flush=True)
    except IndexLockedError as error:
        print(error, flush=True)
"""


class Other:
    """Another process, which syncs on request and stands still at a certain point of it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SYNCING],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def stands_still(self, where: str, notes: Notes) -> None:
        self._say(f"{where} {notes.settings.index.parent}")
        if where in ("hangs", "slow"):
            assert self._hear() == "hangs"
        else:
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def goes_on(self) -> str:
        """What comes of it."""
        self._process.send_signal(signal.SIGCONT)
        self._say("go on")
        return self._hear()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip()


@pytest.fixture(scope="module")
def other() -> Iterator[Other]:
    other = Other()
    yield other
    other.kill()


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notes:
    """With two changes that are to be taken in, and little patience."""
    monkeypatch.setattr(lock, "STILL_S", 0.3)
    notes = Notes(tmp_path).write({"a.md": "# A\n\nOne.\n"})
    notes.sync()
    return notes.write({"a.md": "# A\n\nTwo.\n", "new.md": "# New\n\nTwo.\n"})


@pytest.mark.parametrize("where", ["before", "while", "after", "hangs"])
def test_others_go_on_and_the_one_that_stood_still_writes_nothing_any_more(
    notes: Notes, other: Other, where: str
) -> None:
    other.stands_still(where, notes)
    # What the other has planned to write is not what the files hold any more.
    notes.write({"a.md": "# A\n\nThree.\n", "new.md": "# New\n\nThree.\n", "b.md": "B.\n"})
    notes.synced()
    version = notes.store.snapshot().version
    said = other.goes_on()
    assert f"process {os.getpid()} since" in said
    assert "took over" in said
    assert notes.store.snapshot().version == version
    assert_healthy(notes.store, notes.settings, StandIn())
    notes.write({"b.md": "B edited.\n"}).synced()


def test_maintenance_that_stands_still_is_not_taken_over_but_told(
    notes: Notes, other: Other
) -> None:
    notes.with_settings(lock_timeout_s=1.0)
    other.stands_still("maintenance", notes)
    with pytest.raises(IndexLockedError, match=f"locked by process {other.pid} since"):
        notes.sync()
    assert other.goes_on() == "done"
    assert notes.synced().rows_written == 0


def test_one_that_is_only_slow_keeps_the_lock(
    notes: Notes, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "STILL_S", 1.5)
    notes.with_settings(lock_timeout_s=2.0)
    other.stands_still("slow", notes)
    with pytest.raises(IndexLockedError):
        notes.sync()
    assert other.goes_on() == "done"
    assert notes.synced().rows_written == 0


def test_one_that_is_stopped_and_killed_leaves_nothing_to_wait_for(
    notes: Notes, other: Other
) -> None:
    other.stands_still("while", notes)
    other.kill()
    notes.synced()
    assert notes.sync().rows_written == 0
    assert not (notes.settings.index / "lock.fence").exists()


def test_files_that_one_who_lost_the_lock_takes_away_again_are_not_waited_for(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = durably._files
    calls = 0

    def files(table: Path) -> Iterator[str]:
        nonlocal calls
        calls += 1
        yield from real(table)
        if calls % 2 == 0:
            yield str(notes.settings.index / "chunks.lance/_deletions/.tmp1")

    monkeypatch.setattr(durably, "_files", files)
    assert notes.synced().changed == 1


def test_vectors_are_not_kept_aside_while_another_keeps_the_cache_locked(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "_BUSY_TIMEOUT_S", 0.05)
    notes.sync()
    cache = sqlite3.connect(notes.settings.index / "vectors.sqlite", isolation_level=None)
    cache.execute("BEGIN IMMEDIATE")
    (notes.root / "new.md").unlink()
    assert notes.synced().removed == 1
    # To forget is not a matter of speed.
    with pytest.raises(StoreError, match="vector cache"):
        notes.store.vector_cache.forget(["hash"])
    cache.close()
    assert notes.write({"new.md": "# New\n\nTwo.\n"}).synced().embedded == 1
