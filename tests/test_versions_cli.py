"""The commands that go back in time: what they print, and how they end."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from lancebrain.cli.times import ago
from tests.conftest import Ran
from tests.trees import write_tree

Lb = Callable[..., Ran]

pytestmark = pytest.mark.usefixtures("stand_in")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path / "notes", {"a.md": "# Owls\n\nan owl hunts\n", "b.md": "# Bees\n\na bee hums\n"}
    )


@pytest.fixture
def index(lb: Lb, tmp_path: Path, root: Path) -> Path:
    """Two notes at the checkpoint ``good``; then one is edited and one deleted."""
    folder = tmp_path / "index"
    assert lb("sync", root, "--index", folder).code == 0
    assert lb("checkpoint", "good", "-m", "all well", "--index", folder).code == 0
    (root / "b.md").unlink()
    write_tree(root, {"a.md": "# Foxes\n\na fox hunts\n"})
    assert lb("sync", "--index", folder).code == 0
    return folder


def test_history_tells_when_why_and_what(lb: Lb, index: Path) -> None:
    shown = lb("history", "--index", index)
    head, newest, first, created = shown.out.splitlines()
    assert head.split() == ["version", "when", "what", "checkpoint"]
    assert re.search(r"4 +\d+ s ago +sync: 1 changed, 1 removed", newest)
    assert "sync: 2 added" in first
    assert "good “all well”" in first
    assert "create" in created
    few = lb("history", "--limit", "1", "--index", index)
    assert len(few.out.splitlines()) == 2
    assert "--limit" in few.err
    entries = lb("history", "--json", "--index", index).json
    assert [entry["version"] for entry in entries] == [4, 3, 2]
    assert (entries[1]["tags"], entries[1]["message"]) == (["good"], "all well")


def test_diff_lists_documents_and_their_texts(lb: Lb, index: Path) -> None:
    shown = lb("diff", "good", "--chunks", "--index", index)
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == "~ notes/a.md"
    assert "   -an owl hunts" in lines
    assert "   +a fox hunts" in lines
    assert "- notes/b.md" in lines
    assert "1 changed, 1 removed" in shown.err
    changes = lb("diff", "good", "latest", "--index", index, "--json").json["changes"]
    assert [(c["what"], c["path"]) for c in changes] == [
        ("changed", "notes/a.md"),
        ("removed", "notes/b.md"),
    ]
    assert lb("diff", "good", "good", "--index", index).out == ""


def test_diff_says_why_a_changed_note_has_no_changed_lines(lb: Lb, index: Path, root: Path) -> None:
    (root / "a.md").write_bytes(b"# Foxes\r\n\r\na fox hunts\r\n")
    assert lb("sync", "--index", index).code == 0
    mark, why = lb("diff", "latest~1", "--chunks", "--index", index).out.splitlines()
    assert (mark, "line ends" in why) == ("~ notes/a.md", True)


def test_answers_as_of_a_version(lb: Lb, index: Path) -> None:
    found = lb("search", "owl", "--mode", "keyword", "--at", "good", "--index", index)
    assert "notes/a.md:1-3" in found.out
    assert "As of version 3, made 20" in found.err
    assert lb("show", "notes/b.md", "--at", "latest~1", "--index", index).out.startswith("# Bees")
    assert lb("show", "notes/b.md", "--at", "~1", "--index", index).code == 0
    assert lb("status", "--at", "good", "--json", "--index", index).json["documents"] == 2
    assert len(lb("export", "--at", "good", "--index", index).out.splitlines()) == 2
    wrong = lb("search", "owl", "--at", "nonsense", "--index", index)
    assert (wrong.code, wrong.out) == (2, "")
    assert "lancebrain history" in wrong.err


def test_checkpoints_are_made_listed_and_deleted(lb: Lb, index: Path, root: Path) -> None:
    made = lb("checkpoint", "better", "--json", "--index", index).json
    assert (made["name"], made["version"]) == ("better", 4)
    write_tree(root, {"new.md": "# New\n\nnot to be taken in\n"})
    taken = lb("checkpoint", "good", "--index", index)
    assert (taken.code, "taken by version 3" in taken.err) == (2, True)
    assert "lancebrain checkpoint --delete good" in taken.err
    assert lb("status", "--json", "--index", index).json["version"] == 4
    listed = lb("checkpoint", "--list", "--index", index).out.splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [["better", "4"], ["good", "3"]]
    assert lb("checkpoint", "--delete", "better", "--index", index).code == 0
    assert lb("checkpoint", "--delete", "better", "--index", index).code == 2
    assert lb("checkpoint", "x", "--list", "--index", index).code == 2
    assert lb("checkpoint", "yesterday", "--index", index).code == 2


def test_rollback_tells_the_pin_and_the_way_back_and_resume_goes_on(lb: Lb, index: Path) -> None:
    planned = lb("rollback", "good", "--dry-run", "--index", index)
    assert planned.out == "would be: version 4 → 3  1 added, 1 changed\n"
    refused = lb("rollback", "good", "--index", index)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert "from version 4 to 3 (1 added, 1 changed)?" in refused.err
    assert lb("status", "--json", "--index", index).json["pinned"] is None
    done = lb("rollback", "good", "--yes", "--index", index)
    assert done.out == "version 4 → 3  1 added, 1 changed\n"
    assert "lancebrain resume" in done.err
    way_back = done.err.split("lancebrain rollback ")[1].strip()
    status = lb("status", "--index", index)
    assert "pinned at good" in status.out
    assert "pinned at good" in lb("search", "bee", "--index", index).err
    held = lb("sync", "--index", index)
    assert (held.code, "lancebrain resume" in held.out) == (3, True)
    assert lb("rollback", way_back, "--yes", "--json", "--index", index).json["restored"] == 4
    resumed = lb("resume", "--json", "--index", index).json
    assert (resumed["problems"], resumed["embedded"]) == ([], 0)
    assert lb("status", "--json", "--index", index).json["pinned"] is None


def test_a_deleted_note_comes_back(lb: Lb, index: Path, root: Path) -> None:
    planned = lb("restore", "notes/b.md", "--dry-run", "--index", index)
    assert planned.out.startswith("would restore")
    assert not (root / "b.md").exists()
    done = lb("restore", "notes/b.md", "--index", index)
    assert done.code == 0
    assert (root / "b.md").read_text() == "# Bees\n\na bee hums\n"
    again = lb("restore", "notes/b.md", "--json", "--index", index)
    assert again.code == 0
    assert again.json[0]["is_same"]
    whole = lb("restore", "notes/", "--index", index)
    assert (whole.code, whole.out) == (0, "")
    assert "2 files are the same already" in whole.err
    left = lb("restore", root / "a.md", "--at", "good", "--index", index)
    assert (left.code, "--overwrite" in left.out) == (3, True)
    target = root.parent / "out.md"
    assert lb("restore", root / "a.md", "--at", "good", "--to", target, "--index", index).code == 0
    assert target.read_text() == "# Owls\n\nan owl hunts\n"
    assert lb("restore", "notes/none.md", "--index", index).code == 2


def test_forget_prints_what_it_rewrote_and_the_proof(lb: Lb, index: Path, root: Path) -> None:
    planned = lb("forget", "notes/b.md", "--dry-run", "--index", index)
    assert planned.out.startswith("would be: 1 document forgotten\n   notes/b.md\n")
    refused = lb("forget", "notes/b.md", "--index", index)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    done = lb("forget", "notes/b.md", "--yes", "--verify", "--index", index)
    assert done.code == 0
    assert "rewritten: version 3 → 3 (good), without 1 document" in done.out
    assert "none found" in done.out
    assert "lancebrain forget --allow notes/b.md" in done.err
    assert lb("restore", "notes/b.md", "--index", index).code == 2
    write_tree(root, {"b.md": "# Bees\n\na bee hums\n"})
    assert lb("sync", "--json", "--index", index).json["added"] == 0
    assert lb("forget", "--list", "--index", index).out == "notes/b.md\n"
    assert lb("forget", "--allow", "notes/b.md", "--index", index).code == 0
    assert lb("forget", "--allow", "notes/b.md", "--index", index).code == 2
    assert lb("sync", "--json", "--index", index).json["added"] == 1
    assert lb("forget", "--index", index).code == 2
    assert lb("forget", "notes/none.md", "--yes", "--index", index).code == 2


def test_a_glob_that_was_forgotten_is_told_as_a_shell_wants_it(
    lb: Lb, index: Path, root: Path
) -> None:
    write_tree(root, {"c.md": "# Foxes\n\na fox hunts\n"})
    assert lb("sync", "--index", index).code == 0
    done = lb("forget", "notes/c*", "--yes", "--verify", "--index", index)
    assert "lancebrain forget --allow 'notes/c*'" in done.err
    assert "the same text stays in 1 other document:\n   notes/a.md\n" in done.out
    assert "their paths alone looked for" in done.out


def test_optimize_tells_what_would_go_and_what_went(lb: Lb, index: Path) -> None:
    planned = lb("optimize", "--dry-run", "--json", "--index", index).json
    assert (planned["versions_removed"], planned["versions_kept"]) == ([], 3)
    done = lb("optimize", "--index", index)
    assert (done.code, "0 old versions removed" in done.out) == (0, True)


def test_without_an_index_each_command_says_so(lb: Lb, tmp_path: Path) -> None:
    for command in (
        ["history"],
        ["diff", "1"],
        ["checkpoint", "x"],
        ["rollback", "1", "--yes"],
        ["resume"],
        ["restore", "a"],
        ["forget", "a", "--yes"],
        ["optimize"],
    ):
        ran = lb(*command, "--index", tmp_path / "none")
        assert (ran.code, "lancebrain sync FOLDER" in ran.err) == (10, True), command


@pytest.mark.parametrize(
    ("back", "told"),
    [
        (timedelta(seconds=-5), "2026-11-30 00:30"),
        (timedelta(0), "0 s ago"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=29), "29 min ago"),
        (timedelta(minutes=45), "45 min ago"),
        (timedelta(hours=3), "yesterday 21:30"),
        (timedelta(days=3), "Fri 00:30"),
        (timedelta(days=6), "2026-11-24 00:30"),
    ],
)
def test_a_time_is_told_as_people_do(back: timedelta, told: str) -> None:
    now = datetime(2026, 11, 30, 0, 30, tzinfo=timezone(timedelta(hours=9)))
    assert ago((now - back).astimezone(UTC), now=now) == told
    noon = now.replace(hour=12)
    assert ago(noon - timedelta(hours=3), now=noon) == "3 h ago"
