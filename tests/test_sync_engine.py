"""One sync after another over real files: what is written, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexes import Notes, codes

SECTIONS = 12


def section(number: int, word: str = "plain") -> str:
    """A section that is a chunk by itself."""
    body = " ".join(f"{word}{number}x{at}" for at in range(110))
    return f"## Section {number}\n\n{body}.\n\n"


def long_note(**changed: str) -> str:
    return "# Long\n\n" + "".join(
        section(n, changed.get(f"s{n}", "plain")) for n in range(SECTIONS)
    )


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def test_a_folder_of_notes_is_indexed_whole_and_equals_the_files(notes: Notes) -> None:
    notes.write({"a.md": "# A\n\nAlpha.\n", "sub/b.md": "# B\n\nBeta.\n", "c.txt": "Gamma\n"})
    report = notes.synced()
    assert (report.added, report.unchanged, report.problems) == (3, 0, ())
    assert report.rows_written == 6
    assert report.embedded == len(notes.embedder.texts) == 3
    assert notes.text("notes/sub/b.md") == "# B\n\nBeta.\n"


def test_a_second_sync_writes_nothing(notes: Notes) -> None:
    notes.write({"a.md": "# A\n", "b.md": "# B\n"})
    first = notes.sync()
    second = notes.synced()
    assert second.version == first.version
    assert (second.unchanged, second.rows_written, second.embedded) == (2, 0, 0)
