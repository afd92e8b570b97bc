"""Ready analyses, each on notes where one can tell the answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import lancebrain
from lancebrain.brain import Brain
from lancebrain.errors import StoreError, UsageError
from lancebrain.types import Filter
from tests.indexes import Notes
from tests.trees import Tree, write_tree

BACKUP = (
    "# Backup\n\nThe nightly backup copies the database to the second site and checks the copy "
    "against a list of sums before the old one is removed from the disk of the first site.\n"
)
BREAD = "# Bread\n\nFlour, water, salt and time; knead, wait, fold, wait, bake in a hot oven.\n"
CAT = "# 猫\n\nうちの猫がトイレに行けないので、夜中に病院へ行った。\n"


@pytest.fixture
def brain_of(tmp_path: Path) -> Callable[[Tree], Brain]:
    def make(tree: Tree) -> Brain:
        write_tree(tmp_path / "notes", tree)
        brain = lancebrain.open(tmp_path / "index", sources=[], model="tests.stand_in:make")
        brain.sync([tmp_path / "notes"])
        return brain

    return make


Make = Callable[[Tree], Brain]


def test_copies_and_near_copies_are_told_with_the_first_that_they_are_like(brain_of: Make) -> None:
    brain = brain_of(
        {
            "a.md": BACKUP,
            "b/copy.md": BACKUP,
            "c.md": BACKUP.replace("nightly", "weekly"),
            "bread.md": BREAD,
            "blank.md": "",
            "blank too.md": "",
        }
    )
    found = brain.analyze.duplicates(threshold=0.8)
    rows = {row["path"]: row for row in found.table.to_pylist()}
    assert list(rows) == ["notes/b/copy.md", "notes/c.md"]
    assert {row["like"] for row in rows.values()} == {"notes/a.md"}
    assert rows["notes/b/copy.md"]["shared_text"] == 1
    assert 0.5 < rows["notes/c.md"]["shared_text"] < 1
    assert 0.8 <= rows["notes/c.md"]["similarity"] < 1
    assert not brain.analyze.duplicates(filter=Filter(path="notes/b/")).table.num_rows


def test_copies_are_found_without_vectors(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({"a.md": BACKUP, "b.md": BACKUP, "c.md": BREAD})
    notes.embedder.fail_on = "backup"
    assert [problem.code for problem in notes.sync().problems] == ["text-refused"]
    with lancebrain.open(tmp_path / "index", sources=[]) as brain:
        assert brain.analyze.duplicates().table["path"].to_pylist() == ["notes/b.md"]


def test_the_note_that_nothing_is_like_comes_first(brain_of: Make) -> None:
    brain = brain_of(
        {"a.md": BACKUP, "b.md": BACKUP + "More.\n", "c.md": BACKUP + "Less.\n", "cat.md": CAT}
    )
    rows = brain.analyze.outliers(count=2).table.to_pylist()
    assert len(rows) == 2
    assert rows[0]["path"] == "notes/cat.md"
    assert rows[0]["similarity"] < 0.5 < rows[1]["similarity"]
    assert rows[1]["nearest"] != rows[1]["path"]


def test_topics_have_their_words_and_an_example(brain_of: Make) -> None:
    tree = {f"backup {n}.md": f"{BACKUP}Site {n}.\n" for n in range(5)}
    tree |= {f"cat {n}.md": f"{CAT}トイレ {n}。\n" for n in range(4)}
    brain = brain_of(tree)
    found = brain.analyze.topics(count=2)
    backup, cat = found.table.to_pylist()
    assert (backup["notes"], cat["notes"]) == (5, 4)
    assert "backup" in backup["keywords"]
    assert "トイレ" in cat["keywords"]
    assert cat["example"].startswith("notes/cat")
    assert found.table == brain.analyze.topics(count=2).table
    drawn = brain.analyze.map().table.to_pylist()
    assert len(drawn) == 9
    by_topic = {row["path"].startswith("notes/cat"): row["topic"] for row in drawn}
    assert by_topic[True] != by_topic[False]


def test_notes_are_dated_by_frontmatter_then_name_then_file(brain_of: Make, tmp_path: Path) -> None:
    write_tree(tmp_path / "notes", {"file.md": "# File\n"})
    at = datetime(2024, 2, 10, 12, tzinfo=UTC).timestamp()
    os.utime(tmp_path / "notes" / "file.md", (at, at))
    brain = brain_of(
        {
            "front.md": "---\ncreated: 2023-12-24T20:00\n---\nx\n",
            "2024-01-05 name.md": "y\n",
            "v20241399.md": "no date in its name\n",
            "blank.md": "",
        }
    )
    (tmp_path / "notes" / "v20241399.md").unlink()
    brain.sync(confirm_removals=True)
    found = brain.analyze.growth(by="month")
    assert [
        (row["period"], row["notes"], row["notes_total"]) for row in found.table.to_pylist()
    ] == [
        (date(2024, 2, 1), 1, 3),
        (date(2024, 1, 1), 1, 2),
        (date(2023, 12, 1), 1, 1),
    ]
    assert found.table["characters_total"][0].as_py() == sum(
        brain.documents(["characters"])["characters"].to_pylist()
    )
    assert brain.analyze.growth(by="year").table["notes"].to_pylist() == [2, 1]
    assert brain.analyze.growth().title == "Growth by day"
    with pytest.raises(UsageError, match="day, week, month, year"):
        brain.analyze.growth(by="decade")  # type: ignore[arg-type]


def test_what_changed_most_comes_first(brain_of: Make, tmp_path: Path) -> None:
    brain = brain_of({"a.md": BACKUP, "b.md": BREAD, "moved.md": CAT, "gone.md": "# Gone\n\nx\n"})
    brain.checkpoint("before")
    root = tmp_path / "notes"
    (root / "moved.md").rename(root / "there.md")
    (root / "gone.md").unlink()
    write_tree(root, {"b.md": BREAD + "\n# Rye\n\n" + "Sour dough. " * 30, "new.md": "# New\n"})
    brain.sync()
    found = brain.analyze.changes("before")
    rows = {row["path"]: row for row in found.table.to_pylist()}
    assert {path: row["what"] for path, row in rows.items()} == {
        "notes/b.md": "changed",
        "notes/new.md": "added",
        "notes/there.md": "moved",
        "notes/gone.md": "removed",
    }
    assert next(iter(rows)) == "notes/b.md"
    assert rows["notes/b.md"]["characters_added"] > 300
    assert rows["notes/there.md"]["before"] == "notes/moved.md"
    assert rows["notes/there.md"]["share"] == 0
    assert rows["notes/gone.md"]["characters_removed"] == len("# Gone\n\nx\n")
    assert not brain.at("before").analyze.changes("before").table.num_rows
    only = brain.analyze.changes("before", filter=Filter(path="notes/new.md")).table
    assert only["path"].to_pylist() == ["notes/new.md"]


def test_coverage_tells_what_is_not_whole(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write(
        {"a.md": BACKUP, "b.md": BREAD, "blank.md": "", "odd.md": "---\na: [\n---\nx\n"}
    )
    notes.embedder.fail_on = "Flour"
    assert "text-refused" in [problem.code for problem in notes.sync().problems]
    with lancebrain.open(tmp_path / "index", sources=[]) as brain:
        found = brain.analyze.coverage()
    rows = {row["path"]: row for row in found.table.to_pylist()}
    assert set(rows) == {"notes/b.md", "notes/blank.md", "notes/odd.md"}
    assert rows["notes/b.md"]["pending"] == rows["notes/b.md"]["chunks"]
    assert rows["notes/odd.md"]["problems"] == ["frontmatter-invalid"]
    assert "whole: 1" in found.summary[0]


def test_sizes_are_counted_in_characters_by_kind(brain_of: Make) -> None:
    brain = brain_of({"a.md": CAT, "b.txt": "x" * 40, "c.txt": "y" * 20})
    rows = {row["kind"]: row for row in brain.analyze.sizes().table.to_pylist()}
    assert (rows["text"]["least"], rows["text"]["most"], rows["text"]["mean"]) == (20, 40, 30.0)
    assert rows["md"]["characters"] == len(CAT)


ANALYSES: dict[str, dict[str, Any]] = {
    "duplicates": {"threshold": 0.5},
    "outliers": {},
    "topics": {},
    "map": {},
    "growth": {},
    "changes": {"since": "2"},
    "coverage": {},
    "sizes": {},
}


@pytest.mark.parametrize(
    "tree", [{"blank.md": ""}, {"a.md": BACKUP, "b.md": BACKUP, "敷金.md": CAT}]
)
def test_every_analysis_has_rows_of_one_form_and_a_plot(
    brain_of: Make, tmp_path: Path, tree: Tree
) -> None:
    brain = brain_of(tree)
    for name, options in ANALYSES.items():
        found = getattr(brain.analyze, name)(**options)
        assert found.name == name
        assert found.summary or name == "map"
        assert found.table.column_names
        file = tmp_path / f"{name}.svg"
        found.plot(file)
        assert file.read_text(encoding="utf-8").rstrip().endswith("</svg>"), name


def test_a_plot_is_the_same_each_time_and_takes_text_as_it_is(
    brain_of: Make, tmp_path: Path
) -> None:
    brain = brain_of({"$x_{$ <b>.md": BACKUP, "other.md": BREAD})
    found = brain.analyze.outliers()
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        found.plot(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    found.plot(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="svg"):
        found.plot(tmp_path / "one.gif")
    with pytest.raises(StoreError, match="no-folder"):
        found.plot(tmp_path / "no-folder" / "one.svg")


def test_letters_that_no_font_has_are_warned_of_in_one_sentence(
    brain_of: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lancebrain.analysis.plot._FONTS", ("DejaVu Sans",))
    brain = brain_of({"敷金の返還.md": BACKUP, "押し入れ.md": BREAD})
    with pytest.warns(UserWarning) as told:
        brain.analyze.outliers().plot(tmp_path / "outliers.svg")
    (only,) = [one for one in told if "font" in str(one.message)]
    assert "Noto Sans CJK" in str(only.message)
