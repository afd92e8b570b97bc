"""``lancebrain analyze``: a table for people, JSON for machines, a plot where it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ran
from tests.trees import write_tree

Lb = Callable[..., Ran]

NAMES = ("duplicates", "outliers", "topics", "map", "growth", "coverage", "sizes")


@pytest.fixture
def index(lb: Lb, stand_in: None, tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    tree = {f"note {n}.md": f"# Note {n}\n\nThe chain needs oil, says {n}.\n" for n in range(4)}
    write_tree(tmp_path / "notes", tree | {"copy.md": tree["note 1.md"]})
    assert lb("sync", tmp_path / "notes", "--index", folder).code == 0
    return folder


def test_every_name_gives_a_table_and_json_with_the_same_rows(
    lb: Lb, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "240")  # in a narrow terminal a heading takes two lines
    for name in NAMES:
        ran = lb("analyze", name, "--index", index, "--json")
        assert ran.code == 0, ran.err
        assert ran.json["name"] == name
        shown = lb("analyze", name, "--index", index)
        assert shown.code == 0
        rows = ran.json["rows"]
        assert len(shown.out.splitlines()) == (len(rows) + 1 if rows else 0)
        for sentence in ran.json["summary"]:
            assert sentence in shown.err


def test_the_options_of_an_analysis_reach_it(lb: Lb, index: Path) -> None:
    rows = lb("analyze", "duplicates", "--index", index, "--json", "--threshold", "1").json["rows"]
    assert [(row["path"], row["like"]) for row in rows] == [("notes/note 1.md", "notes/copy.md")]
    topics = lb("analyze", "topics", "--count", "1", "--index", index, "--json").json["rows"]
    assert [topic["chunks"] for topic in topics] == [5]
    year = lb("analyze", "growth", "--by", "year", "--index", index, "--json").json["rows"]
    assert year[0]["period"].endswith("-01-01")


def test_a_limit_cuts_the_rows_and_a_filter_narrows_them(lb: Lb, index: Path) -> None:
    shown = lb("analyze", "outliers", "--limit", "2", "--index", index)
    assert len(shown.out.splitlines()) == 3
    cut = lb("analyze", "map", "--limit", "2", "--index", index)
    assert "3 more rows" in cut.err
    told = lb("analyze", "sizes", "--path", "notes/copy.md", "--index", index, "--json")
    assert told.json["rows"][0]["chunks"] == 1


def test_what_changed_is_asked_of_versions(lb: Lb, index: Path, tmp_path: Path) -> None:
    lb("checkpoint", "before", "--index", index)
    write_tree(tmp_path / "notes", {"new.md": "# New\n\nFlour.\n"})
    lb("sync", "--index", index)
    ran = lb("analyze", "changes", "before", "--index", index, "--json")
    assert [row["path"] for row in ran.json["rows"]] == ["notes/new.md"]
    was = lb("analyze", "coverage", "--at", "before", "--index", index, "--json").json
    assert "Documents: 5" in was["summary"][0]
    assert lb("analyze", "changes", "never-was", "--index", index).code == 2


def test_a_plot_is_written_beside_the_table(lb: Lb, index: Path, tmp_path: Path) -> None:
    file = tmp_path / "sizes.svg"
    ran = lb("analyze", "sizes", "--plot", file, "--index", index, "--json")
    assert json.loads(ran.out)["rows"]
    assert "<svg" in file.read_text(encoding="utf-8")
    refused = lb("analyze", "sizes", "--plot", tmp_path / "sizes.doc", "--index", index)
    assert refused.code == 2
    assert ".svg" in refused.err


def test_without_an_index_it_says_so(lb: Lb, tmp_path: Path) -> None:
    for name in NAMES:
        assert lb("analyze", name, "--index", tmp_path / "none").code == 10
