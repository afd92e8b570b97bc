"""Going back on a disk that is full or may not be written: a clear error, nothing changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lancebrain.brain import open as open_brain
from lancebrain.errors import IndexLockedError, StoreError, UsageError
from lancebrain.store import Checkpoints, Store
from lancebrain.types import Version
from lancebrain.versions import NoteRestorer, forget, history, optimize, resolve, rollback
from tests.indexes import Notes
from tests.stand_in import StandIn

Mount = Callable[[str], None]


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mount]:
    """Mounts a small disk of memory at ``disk``, or mounts it anew with other options."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            pytest.skip("mounting a disk needs a privilege")

    if sys.platform != "linux" or not shutil.which("mount"):
        pytest.skip("mounting a disk of memory is Linux's")
    mount("size=24m")
    yield mount
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def notes(tmp_path: Path, mounted: Mount) -> Notes:
    """An index on the small disk, with the checkpoint ``one`` before the newest version."""
    notes = Notes(tmp_path / "disk")
    notes.write({"a.md": "# A\n\nan owl\n", "b.md": "# B\n\na bee\n"}).sync()
    with notes.store.lock(5):
        version = notes.store.snapshot().version
        Checkpoints(notes.store).create("one", version, at=datetime.now(UTC))
    notes.write({"a.md": "# A\n\na fox\n"}).sync()
    return notes


def fill(folder: Path) -> Path:
    """Leave no room on the disk of a folder."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"\0" * 4096)
        except OSError:
            return filler


def clean_up(notes: Notes) -> None:
    optimize(
        notes.store,
        keep_versions=timedelta(days=7),
        now=datetime.now(UTC) + timedelta(days=30),
        lock_timeout_s=0,
    )


def back(notes: Notes) -> None:
    rollback(notes.store, "one", now=datetime.now(UTC), lock_timeout_s=0)


def forget_b(notes: Notes) -> None:
    forget(notes.store, ["notes/b.md"], now=datetime.now(UTC), lock_timeout_s=0)


def state(notes: Notes) -> tuple[list[Version], object, object]:
    return history(notes.store), notes.store.hold.read(), notes.store.forgotten.read()


@pytest.mark.parametrize("change", [back, forget_b, clean_up])
def test_a_full_disk_changes_nothing(notes: Notes, change: Callable[[Notes], None]) -> None:
    (notes.root / "b.md").write_text("# B\n")
    notes.sync()  # leaves rows to clean up
    before = state(notes)
    filler = fill(notes.root.parent)
    with pytest.raises(StoreError, match="No room left") as raised:
        change(notes)
    assert "Free some space" in raised.value.hint
    assert state(notes) == before
    filler.unlink()
    assert state(notes) == before
    change(notes)
    after = state(notes)
    assert after != before
    assert state(Notes(notes.root.parent)) == after


def test_a_note_that_does_not_fit_on_the_disk_leaves_the_file_as_it_was(notes: Notes) -> None:
    filler = fill(notes.root.parent)
    restorer = NoteRestorer(notes.store, notes.settings.sources)
    version = resolve(notes.store, "one")
    with pytest.raises(StoreError, match="No space left"):
        restorer.restore("notes/a.md", version=version, overwrite=True)
    assert sorted(file.name for file in notes.root.iterdir()) == ["a.md", "b.md"]
    assert (notes.root / "a.md").read_text() == "# A\n\na fox\n"
    filler.unlink()
    restorer.restore("notes/a.md", version=version, overwrite=True)
    assert (notes.root / "a.md").read_text() == "# A\n\nan owl\n"


def test_a_read_only_disk_is_read_as_of_any_version_and_changed_by_nothing(
    notes: Notes, mounted: Mount
) -> None:
    index = notes.settings.index
    notes.store.vector_cache.close()
    mounted("remount,ro")
    with open_brain(index, embedder=StandIn(), sources=notes.settings.sources) as brain:
        assert [hit.path for hit in brain.search("owl", mode="keyword", at="one").hits] == [
            "notes/a.md"
        ]
        assert [c.name for c in brain.checkpoints()] == ["one"]
        for change in (
            lambda: brain.rollback("one"),
            lambda: brain.checkpoint("two", look=False),
            lambda: brain.delete_checkpoint("one"),
            lambda: brain.forget(["notes/b.md"]),
            lambda: brain.optimize(),
            lambda: brain.restore("notes/a.md", at="one", overwrite=True),
        ):
            with pytest.raises(StoreError, match=r"may not be written|reading only|Read-only"):
                change()
        assert brain.status().pinned is None
        assert brain.forgotten() == []
        assert brain.rollback("one", dry_run=True).changes == {"changed": 1}


def test_a_process_that_keeps_the_lock_is_named_and_nothing_is_changed(notes: Notes) -> None:
    before = state(notes)
    with Store.open(notes.settings.index).lock(5):
        for change in (back, forget_b):
            with pytest.raises(IndexLockedError, match=f"process {os.getpid()}"):
                change(notes)
    assert state(notes) == before


def test_a_version_that_was_cleaned_up_names_the_next_step(notes: Notes) -> None:
    for number in range(3):
        notes.write({"a.md": f"# A\n\nedit {number}\n"}).sync()
    gone = history(notes.store)[2].version
    now = datetime.now(UTC) + timedelta(days=30)
    done = optimize(notes.store, keep_versions=timedelta(days=7), now=now, lock_timeout_s=5)
    assert gone in done.versions_removed
    with pytest.raises(UsageError, match=f"Version {gone} is not there any more") as raised:
        rollback(notes.store, str(gone), now=now, lock_timeout_s=5)
    assert "lancebrain history" in raised.value.hint
    assert notes.store.hold.read() is None
    back(notes)
