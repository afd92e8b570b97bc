"""``scripts/rollback.py``, as an operator runs it."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lancebrain.brain import open as open_brain
from tests.conftest import Ran
from tests.stand_in import StandIn
from tests.trees import write_tree

PROJECT = Path(__file__).parent.parent
SCRIPT = PROJECT / "scripts" / "rollback.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PROJECT)}


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A note, the checkpoint ``good``, and the note edited."""
    root = write_tree(tmp_path / "notes", {"a.md": "# A\n\nan owl\n"})
    with open_brain(tmp_path / "index", embedder=StandIn()) as brain:
        brain.sync([root])
        brain.checkpoint("good", look=False)
        write_tree(root, {"a.md": "# A\n\na fox\n", "b.md": "# B\n\na bee\n"})
        brain.sync()
    return tmp_path / "index"


def run(index: Path, *arguments: str, stdin: int = subprocess.DEVNULL) -> Ran:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--index", str(index), *arguments],
        capture_output=True,
        text=True,
        stdin=stdin,
        timeout=120,
        check=False,
        env=ENVIRONMENT,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def text_of(index: Path) -> str:
    with open_brain(index, embedder=StandIn()) as brain:
        return brain.show("notes/a.md", look=False).text


def test_it_lists_rolls_back_and_names_the_way_back(index: Path) -> None:
    listed = run(index, "--list")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == ["4", "3", "2"]
    assert "good" in listed.out.splitlines()[1]
    done = run(index, "--to", "good", "--yes")
    assert (done.code, done.out) == (
        0,
        "Rolled back from version 4 to 3 (1 changed, 1 removed)\n",
    )
    assert f"lancebrain resume --index {index}" in done.err
    assert text_of(index) == "# A\n\nan owl\n"
    held = run(index, "--list")
    assert "Held at good" in held.err
    way_back = shlex.split(done.err.split("The way back: ")[1])
    again = subprocess.run(
        [*way_back, "--yes", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=ENVIRONMENT,
    )
    assert json.loads(again.stdout)["restored"] == 4
    assert text_of(index) == "# A\n\na fox\n"


def test_a_dry_run_tells_and_changes_nothing(index: Path) -> None:
    told = run(index, "--to", "latest~1", "--dry-run", "--json")
    assert told.code == 0
    assert json.loads(told.out)["changes"] == {"changed": 1, "removed": 1}
    assert text_of(index) == "# A\n\na fox\n"


def test_without_yes_and_without_a_terminal_nothing_is_done(index: Path) -> None:
    refused = run(index, "--to", "good")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert text_of(index) == "# A\n\na fox\n"


@pytest.mark.parametrize(
    ("answer", "code", "text"), [(b"y\n", 0, "# A\n\nan owl\n"), (b"\n", 1, "# A\n\na fox\n")]
)
def test_on_a_terminal_it_asks(index: Path, answer: bytes, code: int, text: str) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    asked = run(index, "--to", "good", stdin=theirs)
    os.close(theirs)
    os.close(ours)
    assert "Roll back from version 4 to 3 (1 changed, 1 removed)? [y/N]" in asked.err
    assert asked.code == code
    assert text_of(index) == text


def test_what_is_wrong_has_a_code_and_a_next_step(index: Path, tmp_path: Path) -> None:
    wrong = run(index, "--to", "nonsense", "--yes")
    assert (wrong.code, "lancebrain history" in wrong.err) == (2, True)
    missing = run(tmp_path / "nowhere", "--list")
    assert (missing.code, "There is no index" in missing.err) == (10, True)
    assert run(index).code == 2
    assert run(index, "--list", "--limit", "0").code == 2


def test_without_lancebrain_it_says_which_python_to_use() -> None:
    bare = subprocess.run(
        [sys.executable, "-S", "-E", str(SCRIPT), "--list"], capture_output=True, text=True, cwd="/"
    )
    assert bare.returncode == 1
    assert "has no lancebrain" in bare.stderr
    assert ".venv/bin/python" in bare.stderr
