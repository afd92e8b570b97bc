"""Files that cannot be read, change or vanish while they are read: the rest goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lancebrain.errors import StoreError
from lancebrain.store import Store
from lancebrain.sync import reading
from lancebrain.types import Problem, Source, SourceFile
from tests.indexes import Notes, codes


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


class Opening:
    """What happens just before, and just after, a file is opened for reading."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.before: Callable[[str], None] = lambda _: None
        self.after: Callable[[str], None] = lambda _: None
        real = os.open

        def opened(name: Any, *arguments: Any, **options: Any) -> int:
            text = os.fsdecode(name)
            self.before(text)
            descriptor = real(name, *arguments, **options)
            self.after(text)
            return descriptor

        monkeypatch.setattr(reading.os, "open", opened)


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    yield Opening(monkeypatch)


def refuse(ending: str) -> Callable[[str], None]:
    def before(name: str) -> None:
        if name.endswith(ending):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)

    return before


def test_a_file_that_may_not_be_read_keeps_its_old_text_and_is_reported(
    notes: Notes, opening: Opening
) -> None:
    notes.write({"secret.md": "Old secret.\n", "ok.md": "Ok.\n"}).sync()
    notes.write({"secret.md": "New secret.\n", "ok.md": "Ok too.\n"})
    opening.before = refuse("secret.md")
    report = notes.sync()
    assert codes(report.problems) == {("notes/secret.md", "unreadable")}
    assert notes.text("notes/secret.md") == "Old secret.\n"
    assert notes.text("notes/ok.md") == "Ok too.\n"
    opening.before = lambda _: None
    notes.synced()
    assert notes.text("notes/secret.md") == "New secret.\n"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_folder_that_may_not_be_entered_keeps_its_documents(notes: Notes) -> None:
    notes.write({"closed/in.md": "In.\n", "ok.md": "Ok.\n"}).sync()
    (notes.root / "closed").chmod(0)
    try:
        report = notes.sync()
    finally:
        (notes.root / "closed").chmod(0o755)
    assert codes(report.problems) == {("notes/closed", "folder-unreadable")}
    assert "notes/closed/in.md" in notes.paths()
    assert notes.synced().rows_written == 0


def test_a_folder_that_cannot_be_listed_keeps_its_documents(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write({"closed/in.md": "In.\n", "ok.md": "Ok.\n"}).sync()
    real = os.scandir

    def scandir(path: Any = ".") -> Any:
        if os.fsdecode(path).endswith("closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        report = notes.sync()
    assert codes(report.problems) == {("notes/closed", "folder-unreadable")}
    assert "notes/closed/in.md" in notes.paths()
    assert notes.synced().rows_written == 0


def test_an_ignore_file_that_cannot_be_read_changes_nothing_in_its_folder(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write({"d/.lancebrainignore": "private.md\n", "d/private.md": "P.\n", "d/a.md": "A.\n"})
    notes.write({"ok.md": "Ok.\n"}).sync()
    notes.write({"d/new.md": "New.\n", "ok.md": "Ok too.\n"})
    (notes.root / "d" / "a.md").unlink()
    real = Path.read_bytes

    def read_bytes(file: Path) -> bytes:
        if file.name == ".lancebrainignore":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return real(file)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", read_bytes)
        report = notes.sync()
    assert codes(report.problems) == {("notes/d/.lancebrainignore", "ignore-rule")}
    assert notes.paths() == ["notes/d/a.md", "notes/ok.md"]
    assert notes.text("notes/ok.md") == "Ok too.\n"
    notes.synced()
    assert notes.paths() == ["notes/d/new.md", "notes/ok.md"]


@pytest.mark.parametrize("seconds", [-10_000_000_000, 10_000_000_000])
def test_a_file_of_a_time_that_cannot_be_is_like_any_other(notes: Notes, seconds: int) -> None:
    notes.write({"odd.md": "Odd.\n", "ok.md": "Ok.\n"})
    os.utime(notes.root / "odd.md", (seconds, seconds))
    assert notes.synced().added == 2
    assert notes.synced().rows_written == 0
    notes.write({"odd.md": "Odd, too.\n"})
    os.utime(notes.root / "odd.md", (seconds, seconds))
    assert notes.synced().changed == 1


def test_a_file_that_changes_each_time_it_is_read_keeps_its_old_rows(
    notes: Notes, opening: Opening
) -> None:
    notes.write({"grow.md": "Line 0.\n", "ok.md": "Ok.\n"}).sync()
    notes.write({"grow.md": "Line 1.\n", "ok.md": "Ok too.\n"})

    def grow(name: str) -> None:
        if name.endswith("grow.md"):
            with Path(name).open("a") as file:
                file.write("More.\n")

    opening.before = grow
    assert notes.sync().problems == ()  # before it is opened, it may grow as it likes
    stat = os.fstat

    def growing(descriptor: int) -> os.stat_result:
        result = stat(descriptor)
        name = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        grow(name)
        return result

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    opening.before = lambda _: None
    kept = notes.text("notes/grow.md")
    notes.write({"grow.md": "Line 2.\n"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading.os, "fstat", growing)
        report = notes.sync()
    assert codes(report.problems) == {("notes/grow.md", "changing")}
    assert notes.text("notes/grow.md") == kept
    notes.synced()


def test_a_file_that_vanishes_before_it_is_read_is_no_problem(
    notes: Notes, opening: Opening
) -> None:
    notes.write({f"{n}.md": f"Zebra {n}.\n" for n in range(5)}).sync()
    notes.write({f"{n}.md": f"Zebra again {n}.\n" for n in range(5)})

    def vanish(name: str) -> None:
        if name.endswith("3.md"):
            Path(name).unlink(missing_ok=True)

    opening.before = vanish
    report = notes.sync()
    assert (report.changed, report.removed, report.problems) == (4, 1, ())
    opening.before = lambda _: None
    assert notes.synced().rows_written == 0


def test_a_new_file_that_vanishes_leaves_nothing(notes: Notes, opening: Opening) -> None:
    notes.write({"a.md": "A.\n", "b.md": "B.\n"})

    def vanish(name: str) -> None:
        if name.endswith("b.md"):
            Path(name).unlink(missing_ok=True)

    opening.before = vanish
    assert notes.synced().added == 1


def test_a_root_that_vanishes_while_files_are_read_keeps_its_documents(
    notes: Notes, opening: Opening
) -> None:
    notes.write({f"{n}.md": f"Zebra {n}.\n" for n in range(5)}).sync()
    notes.write({f"{n}.md": f"Zebra again {n}.\n" for n in range(5)})
    away = notes.root.with_name("away")
    opening.before = lambda _: notes.root.rename(away) if notes.root.exists() else None
    report = notes.sync()
    assert codes(report.problems) == {("notes", "source-missing")}
    assert len(notes.paths()) == 5
    opening.before = lambda _: None
    away.rename(notes.root)
    assert notes.synced().changed == 5


def test_a_pipe_in_place_of_a_file_does_not_block(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    file = SourceFile(Source("n", tmp_path), "n/pipe.md", str(pipe), 0, 0)
    with pytest.raises(reading.Vanished):
        reading.read_file(file, 0)


def test_special_files_are_reported_and_nothing_else_happens(notes: Notes) -> None:
    notes.write({"ok.md": "Ok.\n", "folder.md/inside.md": "Inside.\n"})
    os.mkfifo(notes.root / "pipe.md")
    (notes.root / "broken.md").symlink_to("nowhere")
    report = notes.synced()
    assert codes(report.problems) == {
        ("notes/pipe.md", "not-a-file"),
        ("notes/broken.md", "symlink-broken"),
    }
    assert notes.paths() == ["notes/folder.md/inside.md", "notes/ok.md"]


def test_a_commit_that_fails_leaves_everything_as_it_was(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write({"a.md": "Old.\n"})
    version = notes.sync().version
    notes.write({"a.md": "New.\n"})

    def full(*_: Any, **__: Any) -> int:
        raise StoreError("No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", full)
        with pytest.raises(StoreError):
            notes.sync()
    assert notes.store.snapshot().version == version
    assert notes.text("notes/a.md") == "Old.\n"
    assert notes.synced().changed == 1


def test_a_read_tells_what_the_system_says(tmp_path: Path, opening: Opening) -> None:
    (tmp_path / "a.md").write_text("A\n")
    opening.before = refuse("a.md")
    file = SourceFile(Source("n", tmp_path), "n/a.md", str(tmp_path / "a.md"), 2, 0)
    problem = reading.read_file(file, 0)
    assert isinstance(problem, Problem)
    assert problem.code == "unreadable"
    assert "ermission denied" in problem.message
