"""Passages that are like one, by the vectors that the index holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from lancebrain.brain import Brain
from lancebrain.brain import open as open_brain
from lancebrain.errors import UsageError
from lancebrain.types import Source
from tests.stand_in import StandIn
from tests.trees import write_tree

FILES = {
    "one.md": "# Espresso\n\nDescale the espresso machine with citric acid.\n",
    "two.md": "# Coffee\n\nThe espresso machine wants citric acid to descale it.\n",
    "far.md": "# Taxes\n\nForm 1040 is due in April.\n",
}


@pytest.fixture
def brain(tmp_path: Path) -> Brain:
    root = write_tree(tmp_path / "notes", FILES)
    brain = open_brain(tmp_path / "i", embedder=StandIn(), sources=[Source("notes", root)])
    brain.sync()
    return brain


def _id_of(brain: Brain, question: str) -> str:
    return brain.search(question, mode="keyword").hits[0].id


def test_the_nearest_passages_of_other_documents_come_first(brain: Brain) -> None:
    found = brain.related(_id_of(brain, '"Descale the espresso"'))
    assert [hit.path for hit in found] == ["notes/two.md", "notes/far.md"]
    assert found[0].score > found[1].score


def test_documents_whose_file_is_gone_are_left_out(brain: Brain, tmp_path: Path) -> None:
    chunk = _id_of(brain, '"Descale the espresso"')
    (tmp_path / "notes" / "two.md").unlink()
    assert [hit.path for hit in brain.related(chunk)] == ["notes/far.md"]


def test_a_passage_that_is_not_there_is_like_nothing(brain: Brain) -> None:
    assert brain.related("notes/one.md#77") == ()
    with pytest.raises(UsageError):
        brain.related("notes/one.md")
