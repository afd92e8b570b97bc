"""The facade in time: answers as of a version, going back, and what happens on the way."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lancebrain.brain import Brain
from lancebrain.brain import open as open_brain
from lancebrain.errors import UsageError
from lancebrain.sync.lookrecord import LookRecord
from lancebrain.types import Problem
from lancebrain.versions import Checkpoints
from tests.stand_in import StandIn
from tests.trees import write_tree

BEFORE = {"a.md": "# Owls\n\nAn owl hunts at night.\n", "b.md": "# Bees\n\nA bee hums.\n"}


@pytest.fixture
def model() -> StandIn:
    return StandIn()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "notes", BEFORE)


@pytest.fixture
def brain(tmp_path: Path, root: Path, model: StandIn) -> Brain:
    """Two notes at the checkpoint ``before``; then one is edited and the other deleted."""
    opened = open_brain(tmp_path / "index", embedder=model)
    opened.sync([root])
    opened.checkpoint("before", "both of them", look=False)
    (root / "b.md").unlink()
    write_tree(root, {"a.md": "# Foxes\n\nA fox hunts at dusk.\n"})
    opened.sync()
    return opened


def test_an_answer_as_of_a_version_has_its_texts_and_says_what_has_changed(brain: Brain) -> None:
    answer = brain.search("owl", mode="keyword", at="before")
    assert [(hit.path, hit.freshness) for hit in answer.hits] == [("notes/a.md", "changed")]
    assert "owl" in answer.hits[0].snippet
    assert answer.notes[0].startswith(f"As of version {answer.version}, made 20")
    gone = brain.search("bee", at="before").hits[0]
    assert (gone.path, gone.freshness) == ("notes/b.md", "changed")
    assert brain.search("owl", mode="keyword").hits == ()


def test_the_serving_handle_does_not_move(brain: Brain) -> None:
    current = brain.status().version
    brain.search("owl", at="before")
    brain.show("notes/b.md", at="before")
    assert brain.status().version == current
    assert [hit.path for hit in brain.search("fox").hits] == ["notes/a.md"]


def test_no_file_is_looked_at_before_an_answer_as_of_a_version(brain: Brain, root: Path) -> None:
    brain.close()
    write_tree(root, {"new.md": "# New\n\nA wombat digs.\n"})
    brain.mark_dirty([root / "new.md"])
    assert brain.search("wombat", mode="keyword", at="latest").hits == ()
    assert brain.show("notes/a.md", at="latest").text.startswith("# Foxes")
    assert [hit.path for hit in brain.search("wombat", mode="keyword").hits] == ["notes/new.md"]


def test_a_document_is_shown_as_it_was(brain: Brain, root: Path) -> None:
    assert brain.show("notes/a.md", at="before").text == BEFORE["a.md"]
    gone = brain.show("notes/b.md:3", at="latest~1")
    assert (gone.text, gone.freshness) == (BEFORE["b.md"], "gone")
    with pytest.raises(UsageError):
        brain.show("notes/b.md")


def test_status_and_export_tell_of_the_version(brain: Brain) -> None:
    then, now = brain.status(at="before"), brain.status()
    assert (then.documents, now.documents) == (2, 1)
    assert then.version < now.version
    assert now.versions == len(brain.history())
    assert now.oldest_version == brain.history()[-1].version
    target = io.BytesIO()
    brain.export(target, at="before")
    texts = [json.loads(line)["text"] for line in target.getvalue().splitlines()]
    assert texts == list(BEFORE.values())


def test_a_wrong_reference_names_the_next_step_wherever_it_is_given(brain: Brain) -> None:
    for ask in (
        lambda: brain.search("owl", at="nonsense"),
        lambda: brain.show("notes/a.md", at="2001-01-01"),
        lambda: brain.status(at="999"),
        lambda: brain.export(io.BytesIO(), at="latest~99"),
        lambda: brain.restore("notes/a.md", at=""),
    ):
        with pytest.raises(UsageError) as raised:
            ask()
        assert "lancebrain history" in raised.value.hint


def test_a_checkpoint_holds_what_was_saved_just_before(brain: Brain, root: Path) -> None:
    write_tree(root, {"a.md": "# Wolves\n\nA wolf howls.\n"})
    brain.checkpoint("saved")
    assert brain.show("notes/a.md", at="saved").text.startswith("# Wolves")
    assert [checkpoint.name for checkpoint in brain.checkpoints()] == ["saved", "before"]
    brain.delete_checkpoint("saved")
    assert [checkpoint.name for checkpoint in brain.checkpoints()] == ["before"]


def test_going_back_and_on_again(brain: Brain, model: StandIn) -> None:
    done = brain.rollback("before")
    answer = brain.search("bee", mode="keyword")
    assert ([hit.path for hit in answer.hits], answer.pinned) == (["notes/b.md"], "before")
    status = brain.status()
    assert (status.pinned, status.pinned_at is not None, status.problems) == ("before", True, ())
    assert brain.history()[0].pinned == "before"
    model.reset()
    report = brain.resume()
    assert (report.changed, report.removed, model.texts) == (1, 1, [])
    assert brain.search("bee", mode="keyword").hits == ()
    assert brain.status().pinned is None
    assert done.checkpoint in {checkpoint.name for checkpoint in brain.checkpoints()}


def test_the_hold_keeps_a_name_that_means_the_same_later_on(brain: Brain) -> None:
    target = brain.rollback("latest~1", dry_run=True).restored
    assert brain.rollback("latest~1").ref == str(target)
    assert brain.search("bee").pinned == str(target)


def test_a_deleted_note_comes_back_and_is_found_again(brain: Brain, root: Path) -> None:
    (entry,) = brain.restore(root / "b.md")
    assert (entry.done, entry.path) == (True, "notes/b.md")
    assert (root / "b.md").read_text() == BEFORE["b.md"]
    assert [hit.path for hit in brain.search("bee", mode="keyword").hits] == ["notes/b.md"]


def test_a_diff_is_against_the_newest_version_unless_told(brain: Brain) -> None:
    changes = brain.diff("before", texts=True).changes
    assert [(change.what, change.path) for change in changes] == [
        ("changed", "notes/a.md"),
        ("removed", "notes/b.md"),
    ]
    assert "+A fox hunts at dusk." in (changes[0].text_diff or "")
    assert brain.diff("before", "before").changes == ()


def test_before_many_documents_go_a_checkpoint_is_made(
    tmp_path: Path, root: Path, model: StandIn
) -> None:
    write_tree(root, {f"many/{n}.md": f"# Note {n}\n\nText {n}.\n" for n in range(20)})
    with open_brain(tmp_path / "index", embedder=model) as brain:
        brain.sync([root])
        for n in range(4):
            (root / f"many/{n}.md").unlink()
        brain.sync()
        assert brain.checkpoints() == []
        for n in range(4, 12):
            (root / f"many/{n}.md").unlink()
        assert brain.sync(dry_run=True).removed == 8
        assert brain.checkpoints() == []
        brain.sync()
        (checkpoint,) = brain.checkpoints()
        assert checkpoint.automatic
        assert checkpoint.name.startswith("before-removals-")
        assert brain.status(at=checkpoint.name).documents == 18
        assert len(brain.restore("notes/many/")) == 20


def test_of_the_automatic_checkpoints_the_last_twenty_stay(brain: Brain) -> None:
    store = brain._access.store()
    checkpoints = Checkpoints(store)
    now = datetime.now(UTC)
    first, *_, last = sorted(store.versions())
    with store.lock(5):
        for number in range(21):
            checkpoints.create(f"before-rollback-{number:02}", first, at=now, automatic=True)
        checkpoints.create_automatic("removals", last, at=now)
    made = checkpoints.all()
    assert len([checkpoint for checkpoint in made if checkpoint.automatic]) == 20
    assert made[0].name.startswith("before-removals-")
    assert "before" in {checkpoint.name for checkpoint in made}


def test_what_was_forgotten_is_in_no_problem_either(brain: Brain, root: Path) -> None:
    folder = brain.settings.index
    LookRecord(folder).write(
        [Problem("notes/b.md", "too-large", "…"), Problem("notes/c.md", "too-large", "…")]
    )
    brain.forget([root / "b.md"])
    assert [problem.path for problem in brain.status().problems] == ["notes/c.md"]
    assert [entry.path for entry in brain.forgotten()] == ["notes/b.md"]
    brain.allow([root / "b.md"])
    assert brain.forgotten() == []


def test_cleaning_up_by_hand_tells_what_goes_and_keeps_checkpoints(brain: Brain) -> None:
    plan = brain.optimize(dry_run=True)
    versions = {entry.version for entry in brain.history()}
    assert plan.bytes_before == plan.bytes_after
    done = brain.optimize()
    assert done.versions_removed == plan.versions_removed == ()
    assert versions <= {entry.version for entry in brain.history()}
    assert brain.show("notes/b.md", at="before").text == BEFORE["b.md"]
