"""The index in time: history, references, diffs, checkpoints, rollback, notes brought back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lancebrain.errors import LancebrainError, StoreError, UsageError
from lancebrain.types import Filter
from lancebrain.versions import (
    Checkpoints,
    NoteRestorer,
    diff,
    history,
    resolve,
    resume,
    rollback,
)
from tests.indexes import Notes

NOW = datetime.now(UTC)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def _back(notes: Notes, ref: str, **options: bool):  # type: ignore[no-untyped-def]
    return rollback(notes.store, ref, now=datetime.now(UTC), lock_timeout_s=5, **options)


def _restorer(notes: Notes) -> NoteRestorer:
    return NoteRestorer(notes.store, notes.settings.sources)


def _words(notes: Notes, word: str, version: int | None = None) -> list[str]:
    snapshot = notes.store.snapshot(version)
    return sorted({c.path for c in snapshot.keyword_candidates(word, Filter(), 10)})


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


def test_history_tells_a_rollback_as_one(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    notes.write({"a.md": "beta\n"}).sync()
    done = _back(notes, str(first))
    entries = {entry.version: entry for entry in history(notes.store)}
    assert entries[done.version].reason == "rollback"
    assert entries[done.version_before].tags == (done.checkpoint,)


# Notes brought back

FILES = {
    "crlf.md": b"# A\r\n\r\nwindows\r\n",
    "bom.md": b"\xef\xbb\xbf# B\n\nmark\n",
    "wide.md": b"\xff\xfe" + "# 幅\n\nutf-16\n".encode("utf-16-le"),
    "sjis.md": "# 議事録\n\n倉庫の移転は六月まで延期することになりました。\n".encode("shift_jis"),
    "nul.md": b"# N\n\nbefore \x00 after\n",
    "stray.md": b"# S\n\nbefore \xaf after\n",
    "blank.md": b" \n\n\t\n",
    "empty.md": b"",
    "front.md": b"---\ntitle: T\ntags: [x]\n---\n\n# F\n\nbody",
    "folder/deep.txt": b"plain\ntext\n",
}


def test_a_wiped_folder_comes_back_byte_for_byte(notes: Notes) -> None:
    notes.write(FILES).sync()
    for name in FILES:
        (notes.root / name).unlink()
    notes.sync(confirm_removals=True)
    assert notes.paths() == []
    restored = _restorer(notes).restore("notes/**")
    assert all(entry.done for entry in restored)
    assert {name: (notes.root / name).read_bytes() for name in FILES} == FILES
    notes.synced()
    assert notes.embedder.texts == []


def test_a_note_comes_back_as_it_was_at_a_version(notes: Notes) -> None:
    first = notes.write({"a.md": "one\n"}).sync().version
    notes.write({"a.md": "two\n"}).sync()
    target = notes.root.parent / "out.md"
    _restorer(notes).restore("notes/a.md", version=first, to=target)
    assert target.read_text() == "one\n"
    assert (notes.root / "a.md").read_text() == "two\n"


def test_a_file_with_other_content_is_left_alone_unless_told(notes: Notes) -> None:
    first = notes.write({"a.md": "one\n"}).sync().version
    (notes.root / "a.md").write_text("not saved anywhere\n")
    (left,) = _restorer(notes).restore("notes/a.md", version=first)
    assert not left.done
    assert "--overwrite" in left.why
    assert (notes.root / "a.md").read_text() == "not saved anywhere\n"
    (done,) = _restorer(notes).restore("notes/a.md", version=first, overwrite=True)
    assert done.done
    assert (notes.root / "a.md").read_text() == "one\n"


def test_a_dry_restore_writes_nothing(notes: Notes) -> None:
    notes.write({"a.md": "one\n"}).sync()
    (notes.root / "a.md").unlink()
    (entry,) = _restorer(notes).restore("notes/a.md", dry_run=True)
    assert entry.done
    assert not (notes.root / "a.md").exists()


def test_a_restored_file_keeps_the_permissions_of_the_one_it_replaces(notes: Notes) -> None:
    first = notes.write({"a.md": "one\n"}).sync().version
    (notes.root / "a.md").write_text("two\n")
    (notes.root / "a.md").chmod(0o600)
    _restorer(notes).restore("notes/a.md", version=first, overwrite=True)
    assert (notes.root / "a.md").stat().st_mode & 0o777 == 0o600


def test_a_document_that_never_was_is_an_error(notes: Notes) -> None:
    notes.write({"a.md": "one\n"}).sync()
    with pytest.raises(UsageError):
        _restorer(notes).restore("notes/none.md")


def test_a_restore_never_leaves_the_source_by_a_symlink(notes: Notes, tmp_path: Path) -> None:
    notes.write({"sub/a.md": "one\n"}).sync()
    (notes.root / "sub/a.md").unlink()
    (notes.root / "sub").rmdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (notes.root / "sub").symlink_to(outside)
    with pytest.raises(LancebrainError):
        _restorer(notes).restore("notes/sub/a.md")
    assert list(outside.iterdir()) == []


def test_a_restore_of_several_into_one_file_is_refused(notes: Notes, tmp_path: Path) -> None:
    notes.write({"a.md": "one\n", "b.md": "two\n"}).sync()
    with pytest.raises(UsageError):
        _restorer(notes).restore("notes/", to=tmp_path / "out.md")


def test_a_place_that_cannot_be_written_is_told(notes: Notes, tmp_path: Path) -> None:
    notes.write({"a.md": "one\n"}).sync()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        _restorer(notes).restore("notes/a.md", to=tmp_path / "file" / "out.md")


def _joined(notes: Notes, version: int) -> str:
    snapshot = notes.store.snapshot(version)
    return "".join(
        row.chunk.text for rows in snapshot.chunks(list(snapshot.stats())).values() for row in rows
    )


def test_a_note_that_is_damaged_in_the_index_does_not_keep_the_others_away(notes: Notes) -> None:
    notes.write({"a.md": "one\n", "b.md": "two\n"}).sync()
    stored = notes.store.snapshot().chunks(["notes/a.md"])["notes/a.md"][0]
    rows = notes.store.snapshot().whole_rows([("notes/a.md", stored.chunk_index)])
    text = rows.schema.get_field_index("text")
    with notes.store.lock(5):
        notes.store._handles.writer.merge(rows.set_column(text, "text", [["damaged\n"]]))
    for name in ("a.md", "b.md"):
        (notes.root / name).unlink()
    left, done = _restorer(notes).restore("notes/")
    assert (left.done, "doctor" in left.why, done.done) == (False, True, True)
    assert [file.name for file in notes.root.iterdir()] == ["b.md"]
