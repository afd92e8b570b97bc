"""The history of one document, and the difference of one document."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lancebrain.store import Snapshot
from lancebrain.versions import diff, document_history, resume, rollback
from tests.indexes import Notes


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def _told(notes: Notes, path: str) -> list[tuple[str, int]]:
    return [(entry.what, entry.version) for entry in document_history(notes.store, path)]


def test_a_document_has_the_versions_in_which_it_changed_and_no_others(notes: Notes) -> None:
    added = notes.write({"a.md": "# A\n\nalpha\n"}).sync().version
    for number in range(5):
        notes.write({"other.md": f"number {number}\n"}).sync()
    changed = notes.write({"a.md": "# A\n\nalpha two\n"}).sync().version
    notes.write({"other.md": "again\n"}).sync()
    (notes.root / "a.md").unlink()
    removed = notes.sync().version
    assert _told(notes, "notes/a.md") == [
        ("removed", removed),
        ("changed", changed),
        ("added", added),
    ]
    assert _told(notes, "notes/never.md") == []


def test_a_change_that_was_taken_back_is_told(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n"}).sync().version
    second = notes.write({"a.md": "beta\n"}).sync().version
    third = notes.write({"a.md": "alpha\n"}).sync().version
    assert [version for _, version in _told(notes, "notes/a.md")] == [third, second, first]


def test_a_rollback_brings_an_old_row_back_and_hides_nothing(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n", "b.md": "b\n"}).sync().version
    second = notes.write({"a.md": "beta\n"}).sync().version
    back = rollback(notes.store, str(first), now=datetime.now(UTC), lock_timeout_s=5).version
    assert [version for _, version in _told(notes, "notes/a.md")] == [back, second, first]
    resume(notes.store, lock_timeout_s=5)
    notes.write({"a.md": "alpha\n", "b.md": "bb\n"}).sync()
    assert [version for _, version in _told(notes, "notes/a.md")] == [back, second, first]


def test_a_document_that_was_moved_has_the_history_of_its_earlier_paths(notes: Notes) -> None:
    added = notes.write({"a.md": "alpha\n", "b.md": "beta\n"}).sync().version
    changed = notes.write({"a.md": "alpha two\n"}).sync().version
    (notes.root / "a.md").rename(notes.root / "c.md")
    first = notes.sync().version
    notes.write({"a.md": "another\n"}).sync()
    (notes.root / "old").mkdir()
    (notes.root / "c.md").rename(notes.root / "old" / "c.md")
    second = notes.sync().version
    told = [
        (entry.what, entry.version, entry.path)
        for entry in document_history(notes.store, "notes/old/c.md")
    ]
    assert told == [
        ("moved", second, "notes/old/c.md"),
        ("moved", first, "notes/c.md"),
        ("changed", changed, "notes/a.md"),
        ("added", added, "notes/a.md"),
    ]


def test_a_path_that_was_taken_again_has_the_history_of_both_documents(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n", "b.md": "beta\n"}).sync().version
    (notes.root / "a.md").unlink()
    removed = notes.sync().version
    again = notes.write({"a.md": "another\n"}).sync().version
    assert _told(notes, "notes/a.md") == [("added", again), ("removed", removed), ("added", first)]


def test_few_versions_are_read_for_it(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write({"a.md": "alpha\n"}).sync()
    for number in range(15):
        notes.write({"other.md": f"number {number}\n"}).sync()
    read = []
    stats = Snapshot.stats

    def counted(self: Snapshot, paths: list[str] | None = None) -> object:
        read.append(self.version)
        return stats(self, paths)

    monkeypatch.setattr(Snapshot, "stats", counted)
    assert len(document_history(notes.store, "notes/a.md")) == 1
    assert len(read) <= 8


def test_the_difference_of_one_document_has_no_other(notes: Notes) -> None:
    first = notes.write({"a.md": "alpha\n", "b.md": "beta\n"}).sync().version
    notes.write({"a.md": "alpha two\n", "b.md": "beta two\n"}).sync()
    earlier, later = notes.store.snapshot(first), notes.store.snapshot()
    changes = diff(earlier, later, texts=True, path="notes/a.md").changes
    assert [change.path for change in changes] == ["notes/a.md"]
    assert "+alpha two" in (changes[0].text_diff or "")
