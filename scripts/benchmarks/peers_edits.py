"""The edits that all ways to keep an index up to files are given, one after the other."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_LONG_FILE_BYTES = 200_000
_BRANCH_FILES = 20
_FOLDER_FILES = 10


class Notes:
    """Notes to edit: a folder, a long file, and a repository with two branches.

    Attributes:
        root: where they are.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._outside = root.parent / "outside"
        self._before = ""

    def copy(self, folder: Path, files: int) -> None:
        """Fill the folder with the first so many notes of another."""
        texts = []
        for file in sorted(folder.rglob("*.md")):
            try:
                texts.append(file.read_bytes().decode())
            except UnicodeDecodeError:
                continue
        for number, text in enumerate(texts[:files]):
            in_folder = number < _FOLDER_FILES
            self._write(f"{'project/deep' if in_folder else 'notes'}/{number}.md", text)
        long = ""
        for text in texts[files:]:
            long += f"{text}\n\n"
            if len(long.encode()) > _LONG_FILE_BYTES:
                break
        self._write("long.md", long)
        self._begin_branches(texts[:_BRANCH_FILES])

    def change_line(self) -> None:
        lines = (self.root / "long.md").read_text().splitlines(keepends=True)
        third = len(lines) // 3
        longest = max(range(third, 2 * third), key=lambda at: len(lines[at]))
        lines[longest] = f"This was edited. {lines[longest]}"
        self._write("long.md", "".join(lines))

    def insert_on_top(self) -> None:
        self._write("long.md", "A line on top.\n\n" + (self.root / "long.md").read_text())

    def append(self) -> None:
        with (self.root / "long.md").open("a") as file:
            file.write("\nA line at the end.\n")

    def save_atomically(self) -> None:
        file = self.root / "notes" / "30.md"
        fresh = file.with_name(".30.md.tmp")
        fresh.write_text(file.read_text() + "\nSaved by a careful editor.\n")
        fresh.replace(file)

    def rename(self) -> None:
        (self.root / "notes" / "31.md").rename(self.root / "notes" / "renamed.md")

    def move_folder(self) -> None:
        (self.root / "project").rename(self.root / "moved")

    def move_folder_out(self) -> None:
        (self.root / "moved").rename(self._outside)

    def move_folder_in(self) -> None:
        self._outside.rename(self.root / "moved")

    def delete(self) -> None:
        (self.root / "notes" / "32.md").unlink()

    def copy_file(self) -> None:
        shutil.copyfile(self.root / "notes" / "33.md", self.root / "notes" / "copy.md")

    def edit_for_undo(self) -> None:
        self._before = (self.root / "long.md").read_text()
        half = len(self._before) // 2
        self._write("long.md", self._before[:half] + " typed by mistake " + self._before[half:])

    def undo(self) -> None:
        self._write("long.md", self._before)

    def truncate(self) -> None:
        self._write("notes/34.md", "")

    def edit_and_delete(self) -> None:
        self._write("notes/35.md", (self.root / "notes/35.md").read_text() + "\nWhile off.\n")
        (self.root / "notes" / "36.md").unlink()

    def switch_branch(self) -> None:
        _git(self.root / "repository", "checkout", "-q", "two")

    def switch_back(self) -> None:
        _git(self.root / "repository", "checkout", "-q", "one")

    def touch(self) -> None:
        for file in (self.root / "notes").glob("*.md"):
            file.touch()

    def _write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, newline="")

    def _begin_branches(self, texts: list[str]) -> None:
        """Branch two has one paragraph more in the middle of each note."""
        repository = self.root / "repository"
        for number, text in enumerate(texts):
            self._write(f"repository/{number}.md", f"{text}\nOf the repository.\n")
        _git(repository, "init", "-q", "-b", "one")
        _git(repository, "add", ".")
        _git(repository, "commit", "-q", "-m", "one")
        _git(repository, "checkout", "-q", "-b", "two")
        for number, text in enumerate(texts):
            lines = text.splitlines(keepends=True)
            lines.insert(len(lines) // 2, f"\nOnly branch two has this in {number}.\n\n")
            self._write(f"repository/{number}.md", "".join(lines) + "\nOf the repository.\n")
        _git(repository, "commit", "-q", "-a", "-m", "two")
        _git(repository, "checkout", "-q", "one")


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit.

    Attributes:
        name: for people.
        while_off: it happens while no process of the tool runs.
    """

    name: str
    make: Callable[[Notes], None]
    while_off: bool = False


def edits() -> list[Edit]:
    """All of them, in the order in which they are made."""
    return [
        Edit("nothing", lambda _: None),
        Edit("one line of a long file changed", Notes.change_line),
        Edit("a line inserted at its top", Notes.insert_on_top),
        Edit("a line appended to it", Notes.append),
        Edit("a typing error in it", Notes.edit_for_undo),
        Edit("undone", Notes.undo),
        Edit("a note saved by temporary file and rename", Notes.save_atomically),
        Edit("a note renamed", Notes.rename),
        Edit(f"a folder of {_FOLDER_FILES} notes renamed", Notes.move_folder),
        Edit("moved out", Notes.move_folder_out),
        Edit("and in again", Notes.move_folder_in),
        Edit("a note copied", Notes.copy_file),
        Edit("a note deleted", Notes.delete),
        Edit("a note truncated to nothing", Notes.truncate),
        Edit(f"branch switched, {_BRANCH_FILES} notes differ", Notes.switch_branch),
        Edit("and back", Notes.switch_back),
        Edit("all notes touched", Notes.touch),
        Edit("one edited, one deleted, while it was off", Notes.edit_and_delete, while_off=True),
    ]


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )
