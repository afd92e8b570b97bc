"""Only what is surely gone is removed, and never most of a source unasked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lancebrain.store.lock import IndexLock
from lancebrain.sync import Engine, Wanted, run
from lancebrain.sync.known import under
from lancebrain.sync.moves import matched
from lancebrain.sync.removals import Gone, problem_with
from lancebrain.types import Source
from tests.indexes import Notes, codes
from tests.trees import write_tree

TREE = {f"d/{n}.md": f"Whale {n}.\n" for n in range(8)}


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    notes = Notes(tmp_path).write(TREE)
    notes.sync()
    return notes


def test_a_root_that_is_missing_keeps_its_documents_until_it_is_back(notes: Notes) -> None:
    away = notes.root.with_name("away")
    notes.root.rename(away)
    for _ in range(2):
        report = notes.sync()
        assert codes(report.problems) == {("notes", "source-missing")}
        assert len(notes.paths()) == 8
    away.rename(notes.root)
    back = notes.synced()
    assert (back.unchanged, back.embedded, back.rows_written, back.problems) == (8, 0, 0, ())


def test_even_when_confirmed_nothing_is_removed_from_a_root_that_is_missing(notes: Notes) -> None:
    notes.root.rename(notes.root.with_name("away"))
    notes.sync(confirm_removals=True, seen_gone=["notes"])
    assert len(notes.paths()) == 8


def test_a_missing_root_does_not_keep_others_from_being_synced(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    write_tree(first, {"a.md": "A.\n"})
    write_tree(second, {"b.md": "B.\n"})
    notes = Notes(tmp_path, Source("one", first), Source("two", second))
    notes.sync()
    shutil.rmtree(first)
    (second / "c.md").write_text("C.\n")
    assert notes.sync().added == 1
    assert notes.paths() == ["one/a.md", "two/b.md", "two/c.md"]


def test_a_root_that_is_suddenly_empty_keeps_its_documents_until_it_is_confirmed(
    notes: Notes,
) -> None:
    shutil.rmtree(notes.root / "d")
    report = notes.sync()
    assert codes(report.problems) == {("notes", "source-empty")}
    assert len(notes.paths()) == 8
    assert notes.synced(confirm_removals=True).removed == 8


def test_a_watcher_that_saw_the_files_go_may_empty_a_root(notes: Notes) -> None:
    shutil.rmtree(notes.root / "d")
    assert notes.synced(seen_gone=["notes/d"]).removed == 8


def test_all_files_moved_to_another_root_leave_no_question(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    write_tree(first, TREE)
    second.mkdir()
    notes = Notes(tmp_path, Source("one", first), Source("two", second))
    notes.sync()
    (first / "d").rename(second / "d")
    report = notes.synced()
    assert (report.moved, report.embedded, report.problems) == (8, 0, ())


def test_a_copy_of_a_file_is_not_the_document_of_a_root_that_is_suddenly_empty(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    write_tree(first, {"a.md": "A.\n", "b.md": "B.\n"})
    write_tree(second, {"x.md": "X.\n"})
    notes = Notes(tmp_path, Source("one", first), Source("two", second))
    notes.sync()
    for file in list(first.iterdir()):
        file.unlink()
    write_tree(second, {"copy.md": "A.\n"})
    assert codes(notes.sync().problems) == {("one", "source-empty")}
    assert notes.paths() == ["one/a.md", "one/b.md", "two/copy.md", "two/x.md"]


def test_most_of_a_large_source_waits_to_be_confirmed(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({f"{n}.md": f"Note {n}.\n" for n in range(100)})
    notes.sync()
    for n in range(51):
        (notes.root / f"{n}.md").unlink()
    (notes.root / "99.md").write_text("Edited.\n")
    report = notes.sync()
    assert codes(report.problems) == {("notes", "removals-waiting")}
    assert "51 of the 100" in report.problems[0].message
    # What is sure is done all the same.
    assert (report.removed, report.changed) == (0, 1)
    told = notes.sync(dry_run=True)
    assert codes(told.problems) == {("notes", "removals-waiting")}
    assert notes.synced(confirm_removals=True).removed == 51


def test_half_of_a_large_source_goes_at_once(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({f"{n}.md": f"Note {n}.\n" for n in range(104)})
    notes.sync()
    for n in range(52):
        (notes.root / f"{n}.md").unlink()
    assert notes.synced().removed == 52


@pytest.mark.parametrize(
    ("gone", "known", "waits"),
    [(50, 50, False), (51, 51, True), (51, 101, True), (51, 102, False), (1, 1, False)],
)
def test_removals_wait_above_half_of_the_source_and_fifty_documents(
    gone: int, known: int, waits: bool
) -> None:
    paths = [f"n/{number}.md" for number in range(gone)]
    assert (problem_with(Gone("n", "ok", paths), known=known) is not None) == waits


def test_files_that_were_seen_to_go_do_not_count_among_those_that_wait(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({f"d/{n}.md": f"Note {n}.\n" for n in range(60)})
    notes.write({f"{n}.md": f"Other note {n}.\n" for n in range(60)}).sync()
    shutil.rmtree(notes.root / "d")
    for n in range(5):
        (notes.root / f"{n}.md").unlink()
    assert codes(notes.sync().problems) == {("notes", "removals-waiting")}
    report = notes.synced(seen_gone=["notes/d"])
    assert (report.removed, report.problems) == (65, ())


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
    )


def test_what_git_took_away_needs_no_confirmation_and_what_was_deleted_does(
    tmp_path: Path,
) -> None:
    notes = Notes(tmp_path).write({f"ü/{n}.md": f"Note {n}.\n" for n in range(60)})
    notes.write({"keep.md": "Keep.\n"})
    git(tmp_path, "init", "-q", "-b", "one")
    git(tmp_path, "add", "notes")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "checkout", "-q", "-b", "two")
    git(tmp_path, "rm", "-q", "-r", "notes/ü")
    git(tmp_path, "commit", "-q", "-m", "two")
    git(tmp_path, "checkout", "-q", "one")
    notes.sync()
    shutil.rmtree(notes.root / "ü")
    assert codes(notes.sync().problems) == {("notes", "removals-waiting")}
    git(tmp_path, "reset", "-q", "--hard")
    git(tmp_path, "checkout", "-q", "two")
    assert notes.synced().removed == 60
    git(tmp_path, "checkout", "-q", "one")
    report = notes.synced()
    assert (report.added, report.embedded) == (60, 0)


def test_git_is_asked_while_nobody_is_kept_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Notes(tmp_path).write({f"d/{n}.md": f"Note {n}.\n" for n in range(60)})
    notes.write({"keep.md": "Keep.\n"}).sync()
    shutil.rmtree(notes.root / "d")
    asked: list[str] = []

    def taken_away(_: Source, paths: list[str]) -> set[str]:
        with IndexLock(notes.settings.index).held(0):
            notes.write({"keep.md": "Keep edited.\n"})
        asked.extend(paths)
        return set(paths[:55])

    monkeypatch.setattr(run, "taken_away", taken_away)
    report = notes.synced()
    assert len(asked) == 60
    assert (report.removed, report.changed, report.problems) == (60, 1, ())


def test_of_many_equal_files_each_finds_its_own_name_first() -> None:
    new = {f"b/{n}.md": "same" for n in range(5)} | {"b/other.md": "same", "b/new.md": "else"}
    leaving = {f"a/{n}.md": "same" for n in reversed(range(6))}
    assert matched(new, leaving) == {
        **{f"b/{n}.md": f"a/{n}.md" for n in range(5)},
        "b/other.md": "a/5.md",
    }


def test_documents_at_many_places_are_those_in_their_folders_too() -> None:
    known = ["n/a.md", "n/d/b.md", "n/d/e/c.md", "n/dd/b.md"]
    few, many = {"n/d", "n/a.md"}, {"n/d", "n/a.md", *(f"n/{n}" for n in range(20))}
    assert under(known, few) == under(known, many) == known[:3]


def test_files_that_come_back_while_their_documents_go_are_documents_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_BATCH_ROWS", 1)
    monkeypatch.setattr(run, "_GROUP_PATHS", 2)
    tree = {f"{n}.md": f"Note {n}.\n" for n in range(10)}
    notes = Notes(tmp_path).write(tree)
    notes.sync()
    for name in list(tree)[:6]:
        (notes.root / name).unlink()
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    steps = engine.run(Wanted()).steps()
    next(steps)
    notes.write(tree)
    for _ in steps:
        pass
    # What went under the same lock as the look was gone when it went.
    assert len(notes.paths()) == 8
    notes.synced()
    assert len(notes.paths()) == 10
