"""Notes written back to disk, to the byte."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lancebrain.errors import LancebrainError, UsageError
from lancebrain.versions import Checkpoints, NoteRestorer, optimize
from tests.indexes import Notes

NOW = datetime.now(UTC)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def _restorer(notes: Notes) -> NoteRestorer:
    return NoteRestorer(notes.store, notes.settings.sources)


FILES = {
    "crlf.md": b"# A\r\n\r\nwindows\r\n",
    "bom.md": b"\xef\xbb\xbf# B\n\nmark\n",
    "wide.md": b"\xff\xfe" + "# 幅\n\nutf-16\n".encode("utf-16-le"),
    "sjis.md": "# 議事録\n\n倉庫の移転は六月まで延期することになりました。\n".encode("shift_jis"),
    "wide-be.md": b"\xfe\xff" + "# 幅\r\n\r\nutf-16\r\n".encode("utf-16-be"),
    "chinese.md": "# 仓库\n\n库存同步每天凌晨两点进行，允许负库存，仓库人员早上核对。\n".encode(
        "gb18030"
    ),
    "mixed.md": b"# M\r\none\ntwo\r\nthree\rfour",
    "nul.md": b"# N\n\nbefore \x00 after\n",
    "stray.md": b"# S\n\nbefore \xaf after\n",
    "blank.md": b" \n\n\t\n",
    "empty.md": b"",
    "front.md": b"---\ntitle: T\ntags: [x]\n---\n\n# F\n\nbody",
    "folder/deep.txt": b"plain\ntext\n",
    "folder/a[1]*?.md": b"# Glob\n\na name that is a glob\n",
    'folder/it\'s "q" 100%  .md': b"# Quotes\n\nand two spaces\n",
    "folder/cafe\u0301.md": b"# NFD\n\na composed name\n",
    "folder/two\nlines.md": b"# Two\n\na name of two lines\n",
    "folder/latin\udce9.md": b"# Bytes\n\na name that is no UTF-8\n",
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


def test_a_folder_in_place_of_the_one_file_names_a_file_in_it(notes: Notes, tmp_path: Path) -> None:
    notes.write({"a.md": "one\n"}).sync()
    with pytest.raises(UsageError) as raised:
        _restorer(notes).restore("notes/a.md", to=tmp_path)
    assert f"--to {tmp_path / 'a.md'}" in raised.value.hint


def test_a_place_that_cannot_be_written_is_told_and_keeps_no_other_away(notes: Notes) -> None:
    notes.write({"sub/a.md": "one\n", "b.md": "two\n"}).sync()
    for name in ("sub/a.md", "b.md"):
        (notes.root / name).unlink()
    (notes.root / "sub").rmdir()
    (notes.root / "sub").write_text("a file\n")
    done, left = _restorer(notes).restore("notes/")
    assert (done.path, done.done) == ("notes/b.md", True)
    assert (left.path, left.done) == ("notes/sub/a.md", False)
    assert "cannot be written: Not a directory" in left.why


def test_a_source_that_is_configured_no_more_is_told_before_anything_is_written(
    notes: Notes,
) -> None:
    notes.write({"a.md": "one\n"}).sync()
    (notes.root / "a.md").unlink()
    with pytest.raises(UsageError, match="not configured any more") as raised:
        NoteRestorer(notes.store, ()).restore("notes/a.md")
    assert "lancebrain sources add FOLDER --name notes" in raised.value.hint


def test_a_note_that_only_a_checkpoint_has_comes_back(notes: Notes) -> None:
    first = notes.write({"a.md": "one\n", "b.md": "two\n"}).sync().version
    with notes.store.lock(5):
        Checkpoints(notes.store).create("first", first, at=NOW)
    (notes.root / "b.md").unlink()
    notes.sync()
    for number in range(2):
        notes.write({"a.md": f"edit {number}\n"}).sync()
    gone = optimize(
        notes.store,
        keep_versions=timedelta(0),
        now=NOW + timedelta(days=30),
        lock_timeout_s=5,
    )
    assert len(gone.versions_removed) >= 2
    (done,) = _restorer(notes).restore("notes/b.md")
    assert (done.done, done.version) == (True, first)


def test_of_a_folder_a_note_that_was_moved_is_left_where_it_is_now(notes: Notes) -> None:
    first = notes.write({"in/a.md": "one\n", "in/b.md": "two\n"}).sync().version
    (notes.root / "in/a.md").rename(notes.root / "in/c.md")
    notes.sync()
    notes.write({"in/c.md": "one, edited\n"}).sync()
    for name in ("in/b.md", "in/c.md"):
        (notes.root / name).unlink()
    notes.sync(confirm_removals=True)
    moved, *restored = _restorer(notes).restore("notes/in/")
    assert (moved.path, moved.moved_to, moved.done) == ("notes/in/a.md", "notes/in/c.md", False)
    assert f"--at {first}" in moved.why
    assert [entry.path for entry in restored if entry.done] == ["notes/in/b.md", "notes/in/c.md"]
    assert (notes.root / "in/c.md").read_text() == "one, edited\n"
    (asked_for,) = _restorer(notes).restore("notes/in/a.md")
    assert asked_for.done
    (notes.root / "in/a.md").unlink()
    assert all(e.done or e.is_same for e in _restorer(notes).restore("notes/in/", version=first))


def test_a_name_that_only_looks_like_that_of_a_note_is_told_with_it(notes: Notes) -> None:
    notes.write({"sub/cafe\u0301.md": "one\n", "sub/Other.md": "two\n"}).sync()
    for asked, meant in (
        ("notes/sub/caf\u00e9.md", "notes/sub/cafe\u0301.md"),
        ("notes/other.md", "notes/sub/Other.md"),
    ):
        with pytest.raises(UsageError) as raised:
            _restorer(notes).restore(asked)
        assert raised.value.hint == f"Did you mean {meant}?"


def test_a_note_that_is_damaged_in_the_index_does_not_keep_the_others_away(notes: Notes) -> None:
    notes.write({"a.md": "one\n", "b.md": "two\n"}).sync()
    stored = notes.store.snapshot().chunks(["notes/a.md"])["notes/a.md"][0]
    snapshot = notes.store.snapshot()
    row_ids = snapshot.row_ids([("notes/a.md", stored.chunk_index)])
    rows = snapshot.whole_rows(row_ids.values())
    text = rows.schema.get_field_index("text")
    with notes.store.lock(5):
        notes.store._handles.writer.merge(rows.set_column(text, "text", [["damaged\n"]]))
    for name in ("a.md", "b.md"):
        (notes.root / name).unlink()
    left, done = _restorer(notes).restore("notes/")
    assert (left.done, "doctor" in left.why, done.done) == (False, True, True)
    assert [file.name for file in notes.root.iterdir()] == ["b.md"]
