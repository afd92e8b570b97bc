"""The index in time: history, references, diffs, checkpoints, rollback."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lancebrain.errors import StoreError, UsageError
from lancebrain.store import CommitLog
from lancebrain.types import Filter
from lancebrain.versions import (
    Checkpoints,
    diff,
    history,
    resolve,
    resume,
    rollback,
)
from lancebrain.versions.problems import problems_in_time
from tests.indexes import Notes

NOW = datetime.now(UTC)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def full(*_: object) -> None:
    """What every write does on a full disk."""
    raise StoreError("No room left.", hint="Free some space.")


def _back(notes: Notes, ref: str, **options: bool):  # type: ignore[no-untyped-def]
    return rollback(notes.store, ref, now=datetime.now(UTC), lock_timeout_s=5, **options)


def _words(notes: Notes, word: str, version: int | None = None) -> list[str]:
    snapshot = notes.store.snapshot(version)
    return sorted({c.path for c in snapshot.keyword_candidates(word, Filter(), 10)})


def _joined(notes: Notes, version: int) -> str:
    snapshot = notes.store.snapshot(version)
    return "".join(
        row.chunk.text for rows in snapshot.chunks(list(snapshot.stats())).values() for row in rows
    )


# History and references


def test_history_names_the_reason_and_the_counts_of_every_version(notes: Notes) -> None:
    first = notes.write({"a.md": "# A\n\nalpha\n", "b.md": "# B\n\nbeta\n"}).sync().version
    second = notes.write({"a.md": "# A\n\nalpha two\n"}).sync().version
    entries = {entry.version: entry for entry in history(notes.store)}
    assert entries[first].reason == "sync"
    assert entries[first].counts["added"] == 2
    assert entries[second].counts["changed"] == 1
    assert entries[second].is_current
    assert sorted(entries, reverse=True) == list(entries)


def test_history_never_contradicts_the_table(notes: Notes) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    (notes.settings.index / "commits.jsonl").unlink()
    entries = {entry.version: entry for entry in history(notes.store)}
    assert entries[version].reason == ""
    assert set(entries) == set(notes.store.versions())


def test_a_version_can_be_named_by_number_checkpoint_time_and_distance(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    with notes.store.lock(5):
        Checkpoints(notes.store).create("good", first, at=NOW)
    second = notes.write({"a.md": "beta\n"}).sync().version
    assert resolve(notes.store, str(first)) == first
    assert resolve(notes.store, f"v{second}") == second
    assert resolve(notes.store, "good") == first
    assert resolve(notes.store, "latest") == notes.store.snapshot().version
    assert "alpha" in _joined(notes, resolve(notes.store, "~1"))
    at = next(entry.at for entry in history(notes.store) if entry.version == first)
    assert resolve(notes.store, at.isoformat()) == first
    assert resolve(notes.store, "now") == notes.store.snapshot().version


@pytest.mark.parametrize("ref", ["99999", "nonsense", "~50", "2001-01-01", ""])
def test_a_wrong_reference_is_an_error_that_names_the_next_step(notes: Notes, ref: str) -> None:
    notes.write({"a.md": "alpha\n"}).sync()
    with pytest.raises(UsageError) as raised:
        resolve(notes.store, ref)
    assert "lancebrain" in raised.value.hint


# Diff


def test_a_diff_tells_added_changed_moved_and_removed(notes: Notes) -> None:
    notes.write(
        {"stay.md": "s\n", "edit.md": "old line\n", "from.md": "moved text\n", "gone.md": "g"}
    )
    before = notes.sync().version
    (notes.root / "gone.md").unlink()
    (notes.root / "from.md").rename(notes.root / "to.md")
    after = notes.write({"edit.md": "new line\n", "new.md": "n\n"}).sync().version
    found = diff(notes.store.snapshot(before), notes.store.snapshot(after), texts=True)
    assert [(c.what, c.path, c.before) for c in found.changes] == [
        ("changed", "notes/edit.md", None),
        ("removed", "notes/gone.md", None),
        ("added", "notes/new.md", None),
        ("moved", "notes/to.md", "notes/from.md"),
    ]
    changed = found.changes[0].text_diff or ""
    assert "-old line" in changed
    assert "+new line" in changed


def test_a_note_that_differs_in_its_line_ends_alone_is_changed_without_lines(
    notes: Notes,
) -> None:
    before = notes.write({"a.md": "one\ntwo\n"}).sync().version
    after = notes.write({"a.md": "one\r\ntwo\r\n"}).sync().version
    found = diff(notes.store.snapshot(before), notes.store.snapshot(after), texts=True)
    assert [(c.what, c.text_diff) for c in found.changes] == [("changed", "")]


def test_a_version_does_not_differ_from_itself(notes: Notes) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    snapshot = notes.store.snapshot(version)
    assert diff(snapshot, snapshot).changes == ()


# Checkpoints


def test_a_checkpoint_keeps_its_message_and_outlives_cleanup(notes: Notes) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    checkpoints = Checkpoints(notes.store)
    with notes.store.lock(5):
        checkpoints.create("before-cleanup", version, at=NOW, message="all well")
    notes.write({"a.md": "beta\n"}).sync()
    with notes.store.lock(5):
        notes.store.maintain(keep_versions=timedelta(0), now=NOW + timedelta(days=30))
    assert [(c.name, c.version, c.message) for c in checkpoints.all()] == [
        ("before-cleanup", version, "all well")
    ]
    assert "alpha" in _joined(notes, version)


@pytest.mark.parametrize("name", ["12", "v3", "latest", "yesterday", "2d", "2026-11-29", "a b", ""])
def test_a_checkpoint_cannot_take_a_name_that_means_something_else(notes: Notes, name: str) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    with notes.store.lock(5), pytest.raises(UsageError):
        Checkpoints(notes.store).create(name, version, at=NOW)
    assert Checkpoints(notes.store).all() == []


@pytest.mark.parametrize("name", ["..", ".a", "a.", "a..b", "a.lock", "-a", "a/b", "ö", "x" * 101])
def test_a_checkpoint_cannot_take_a_name_that_the_table_or_a_shell_refuses(
    notes: Notes, name: str
) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    checkpoints = Checkpoints(notes.store)
    with notes.store.lock(5):
        with pytest.raises(UsageError, match="cannot be named"):
            checkpoints.create(name, version, at=NOW)
        for allowed in ("a.b-c_d", "A.lock.b", "x" * 100):
            checkpoints.create(allowed, version, at=NOW)
    assert len(checkpoints.all()) == 3


def test_a_checkpoint_whose_message_cannot_be_written_is_none(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    checkpoints = Checkpoints(notes.store)
    with notes.store.lock(5), monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No room left"):
            checkpoints.create("mine", version, at=NOW, message="m")
    assert checkpoints.all() == []


def test_checkpoints_made_by_themselves_within_a_second_have_names_of_their_own(
    notes: Notes,
) -> None:
    checkpoints = Checkpoints(notes.store)
    for text in ("alpha\n", "beta\n", "gamma\n"):
        version = notes.write({"a.md": text}).sync().version
        with notes.store.lock(5):
            checkpoints.create_automatic("forget", version, at=NOW)
    assert len({checkpoint.version for checkpoint in checkpoints.all()}) == 3


def test_a_checkpoint_that_exists_is_not_moved(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    second = notes.write({"a.md": "beta\n"}).sync().version
    with notes.store.lock(5):
        Checkpoints(notes.store).create("mine", first, at=NOW)
        with pytest.raises(UsageError, match="taken"):
            Checkpoints(notes.store).create("mine", second, at=NOW)
    assert resolve(notes.store, "mine") == first


def test_a_deleted_checkpoint_is_gone_with_its_message(notes: Notes) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    checkpoints = Checkpoints(notes.store)
    with notes.store.lock(5):
        checkpoints.create("mine", version, at=NOW, message="m")
        checkpoints.delete("mine")
        assert checkpoints.all() == []
        assert checkpoints.create("mine", version, at=NOW).message == ""


# Rollback and resume


def test_a_rollback_brings_back_documents_and_both_kinds_of_search(notes: Notes) -> None:
    first = notes.write({"a.md": "# A\n\nalpha\n", "b.md": "# B\n\nbeta\n"}).sync().version
    (notes.root / "b.md").unlink()
    notes.write({"a.md": "# A\n\ngamma\n"}).sync()
    done = _back(notes, str(first))
    assert done.changes == {"changed": 1, "added": 1}
    assert _words(notes, "beta") == ["notes/b.md"]
    assert _words(notes, "alpha") == ["notes/a.md"]
    assert _words(notes, "gamma") == []
    assert notes.store.snapshot().pending() == 0


def test_a_rollback_holds_sync_until_resume_which_embeds_nothing_known(notes: Notes) -> None:
    first = notes.write({"a.md": "# A\n\nalpha\n"}).sync().version
    notes.write({"a.md": "# A\n\nbeta\n", "new.md": "delta\n"}).sync()
    _back(notes, str(first))
    held = notes.sync()
    assert [problem.code for problem in held.problems] == ["pinned"]
    assert _words(notes, "alpha") == ["notes/a.md"]
    assert resume(notes.store, lock_timeout_s=5)
    report = notes.synced()
    assert (report.added, report.changed) == (1, 1)
    assert notes.embedder.texts == []
    assert not resume(notes.store, lock_timeout_s=5)


def test_a_rollback_can_be_undone_by_the_checkpoint_it_made(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    notes.write({"a.md": "beta\n"}).sync()
    done = _back(notes, str(first))
    _back(notes, done.checkpoint)
    assert _words(notes, "beta") == ["notes/a.md"]
    assert notes.store.hold.is_set()


def test_a_dry_rollback_changes_nothing(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    second = notes.write({"a.md": "beta\n"}).sync().version
    planned = _back(notes, str(first), dry_run=True)
    assert planned.changes == {"changed": 1}
    assert notes.store.snapshot().version == max(second, planned.version)
    assert not notes.store.hold.is_set()
    assert Checkpoints(notes.store).all() == []


def test_a_rollback_to_a_wrong_reference_changes_nothing(notes: Notes) -> None:
    version = notes.write({"a.md": "alpha\n"}).sync().version
    with pytest.raises(UsageError):
        _back(notes, "no-such-checkpoint")
    assert not notes.store.hold.is_set()
    assert Checkpoints(notes.store).all() == []
    assert notes.store.snapshot().version >= version


def test_a_rollback_that_cannot_be_recorded_says_that_it_is_done(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    notes.write({"a.md": "beta\n"}).sync()
    with monkeypatch.context() as patch:
        patch.setattr(CommitLog, "append", full)
        with pytest.raises(StoreError, match=f"rolled back to {first} and held there") as raised:
            _back(notes, str(first))
    assert "as it was before" not in raised.value.message
    assert _words(notes, "alpha") == ["notes/a.md"]
    (problem,) = problems_in_time(notes.store)
    assert f"the index is as in version {first}" in problem.message
    _back(notes, str(first))
    assert problems_in_time(notes.store) == ()


def test_history_tells_a_rollback_as_one(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    notes.write({"a.md": "beta\n"}).sync()
    done = _back(notes, str(first))
    entries = {entry.version: entry for entry in history(notes.store)}
    assert entries[done.version].reason == "rollback"
    assert entries[done.version_before].tags == (done.checkpoint,)
