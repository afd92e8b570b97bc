"""Session logs on the command line: adding them, asking them, seeing what was left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ran
from tests.session_logs import (
    Claude,
    codex_meta,
    codex_said,
    compressed,
    gemini_head,
    gemini_said,
    jsonl,
)
from tests.trees import Tree, write_tree

Lb = Callable[..., Ran]

pytestmark = pytest.mark.usefixtures("stand_in")

CHAT = Claude()
CLAUDE: Tree = {
    "projects/-home-ana-ship/one.jsonl": jsonl(
        CHAT.user("Which anchor holds in kelp?"), CHAT.assistant("The fisherman anchor.")
    ),
    "projects/-home-ana-ship/empty.jsonl": b"",
    "projects/-home-ana-ship/one/subagents/agent-a1.jsonl": jsonl(
        Claude(isSidechain=True, agentId="a1").user("Search for kelp.")
    ),
    "projects/-home-ana-ship/one/tool-results/x.txt": b"kelp kelp",
    "history.jsonl": jsonl({"display": "kelp"}),
}
CODEX: Tree = {
    "sessions/2026/03/01/rollout-a.jsonl": jsonl(codex_meta(), codex_said("user", "Caulk it?")),
    "archived_sessions/rollout-b.jsonl.zst": compressed(
        jsonl(codex_meta(), codex_said("user", "Paint it?"))
    ),
    "history.jsonl": jsonl({"session_id": "x", "text": "Caulk it?"}),
    "log/codex-tui.log": b"NO",
}
GEMINI: Tree = {
    "tmp/0b7d/chats/session-a.jsonl": jsonl(gemini_head(), gemini_said("user", "Row it?", "1")),
    "tmp/0b7d/logs.json": b'[{"message": "Row it?"}]',
}
FOLDERS = {
    "claude": ("CLAUDE_CONFIG_DIR", ".claude", CLAUDE, "projects", 1),
    "codex": ("CODEX_HOME", ".codex", CODEX, "", 2),
    "gemini": ("", ".gemini", GEMINI, "tmp", 1),
}


@pytest.fixture(autouse=True)
def _no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.mark.parametrize("program", FOLDERS)
def test_the_logs_of_a_program_are_found_counted_and_added(
    lb: Lb, index: Path, program: str
) -> None:
    _, folder, tree, below, count = FOLDERS[program]
    home = write_tree(Path.home() / folder, tree)
    added = lb("sources", "add", program, "--index", index, "--json").json
    source = added["source"]
    assert (source["name"], source["kind"], source["domain"]) == (program, program, "sessions")
    assert source["root"] == str(home / below)
    assert added["sessions"] == count
    assert added["bytes"] > 0
    report = lb("sync", "--index", index, "--json").json
    assert (report["added"], report["problems"]) == (count + (program == "claude"), [])
    status = lb("status", "--index", index, "--json").json
    assert status["chunks"] == {"claude": 2, "codex": 2, "gemini": 1}[program]


def test_what_was_found_is_told(lb: Lb, index: Path) -> None:
    write_tree(Path.home() / ".codex", CODEX)
    added = lb("sources", "add", "codex", "--index", index)
    assert (added.code, added.out) == (0, f"codex: {Path.home() / '.codex'}\n")
    assert added.err.startswith("2 sessions, ")


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_a_variable_names_the_folder_of_a_program(
    lb: Lb, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    variable, folder, tree, below, count = FOLDERS[program]
    write_tree(Path.home() / folder, tree)
    elsewhere = write_tree(tmp_path / "else where", tree)
    monkeypatch.setenv(variable, str(elsewhere))
    added = lb("sources", "add", program, "--index", index, "--json").json
    assert added["source"]["root"] == str(elsewhere / below)
    assert added["sessions"] == count


def test_a_program_without_a_folder_is_told(
    lb: Lb, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = lb("sources", "add", "claude", "--index", index)
    assert refused.code != 0
    assert f"{Path.home() / '.claude' / 'projects'} is no folder" in refused.err
    assert "CLAUDE_CONFIG_DIR" in refused.err
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "none"))
    refused = lb("sources", "add", "codex", "--index", index)
    assert str(tmp_path / "none") in refused.err


def test_a_name_that_is_taken_gets_a_number_and_a_folder_twice_is_refused(
    lb: Lb, index: Path, tmp_path: Path
) -> None:
    write_tree(Path.home() / ".claude", CLAUDE)
    write_tree(tmp_path / "claude", {"a.md": "# A\n"})
    assert lb("sources", "add", tmp_path / "claude", "--index", index).code == 0
    added = lb("sources", "add", "claude", "--index", index, "--json").json
    assert added["source"]["name"] == "claude-2"
    again = lb("sources", "add", "claude", "--index", index)
    assert again.code != 0
    assert "'claude-2' already" in again.err


def test_a_folder_called_like_a_program_is_meant_by_its_path(
    lb: Lb, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path / "claude", {"a.md": "# A\n"})
    monkeypatch.chdir(tmp_path)
    added = lb("sources", "add", "./claude", "--index", index, "--json").json
    assert (added["root"], added["kind"], added["domain"]) == (
        str(tmp_path / "claude"),
        None,
        "knowledge",
    )


def test_what_is_given_wins_over_what_is_usual(lb: Lb, index: Path) -> None:
    write_tree(Path.home() / ".claude", CLAUDE)
    options = ("--name", "chats", "--domain", "work", "--exclude", "one.jsonl")
    added = lb("sources", "add", "claude", *options, "--index", index, "--json").json
    assert (added["source"]["name"], added["source"]["domain"]) == ("chats", "work")
    assert added["sessions"] == 0


def test_logs_that_git_ignores_are_logs_all_the_same(lb: Lb, index: Path) -> None:
    write_tree(Path.home(), {".git/HEAD": "ref: x\n", ".gitignore": "*\n"})
    write_tree(Path.home() / ".claude", CLAUDE | {".gitignore": "projects/\n"})
    assert lb("sources", "add", "claude", "--index", index, "--json").json["sessions"] == 1
