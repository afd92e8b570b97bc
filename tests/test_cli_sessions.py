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


# Asking


LONG = "Compare the anchors. " + "A long story about kelp, sand and mud. " * 60
MORE = Claude(cwd="/home/ana/ship/hull", gitBranch="caulking")
ELSEWHERE = Claude(cwd="/home/ana/garden", sessionId="5e55")
TWO: Tree = {
    "projects/-home-ana-ship-hull/two.jsonl": jsonl(
        MORE.user(LONG, timestamp="2026-02-01T23:30:00.000Z"),
        MORE.assistant("The plough holds in mud.", timestamp="2026-02-01T23:59:30.000Z"),
        {"type": "custom-title", "customTitle": "Anchors compared"},
    ),
    "projects/-home-ana-garden/three.jsonl": jsonl(
        ELSEWHERE.user("Which plough for the garden?"),
        {"type": "telepathy", "text": "NO"},
        {"type": "telepathy", "text": "NO"},
    ),
}


@pytest.fixture
def asked(lb: Lb, index: Path, tmp_path: Path) -> Path:
    """An index of notes and of sessions of three projects."""
    write_tree(Path.home() / ".claude", CLAUDE | TWO)
    write_tree(Path.home() / ".codex", CODEX)
    notes = write_tree(tmp_path / "notes", {"a.md": "# Plough\n\nThe plough anchor holds.\n"})
    for what in ("claude", "codex", notes):
        assert lb("sources", "add", what, "--index", index).code == 0
    assert lb("sync", "--index", index).code == 0
    return index


def found(lb: Lb, index: Path, *words: object) -> list[str]:
    """Names of the documents that hits are in."""
    options = ("--mode", "keyword", "--index", index, "--json", "--limit", 50)
    hits = lb("search", *words, *options).json["hits"]
    return sorted({hit["path"].rpartition("/")[2].partition(".")[0] for hit in hits})


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["a", "three", "two"]),
        (("--domain", "sessions"), ["three", "two"]),
        (("--exclude-domain", "sessions"), ["a"]),
        (("--role", "assistant"), ["two"]),
        (("--role", "user"), ["three"]),
        (("--project", "/home/ana/ship"), ["two"]),
        (("--project", "/home/ana/ship/hull/"), ["two"]),
        (("--project", "garden"), ["three"]),
        (("--project", "garden", "--project", "ship"), ["three", "two"]),
        (("--project", "hul"), []),
        (("--project", "garden", "--role", "assistant"), []),
        (("--until", "2026-02-01T23:59:30Z"), ["two"]),
        (("--until", "2026-02-01T23:59:29Z"), []),
        (("--since", "2026-02-01T23:59:31Z"), ["a", "three"]),
        (("--since", "2026-02-01T23:59:30Z", "--until", "2026-03-01T23:00Z"), ["three", "two"]),
    ],
)
def test_hits_are_narrowed_by_domain_role_project_and_the_time_of_the_turn(
    lb: Lb, asked: Path, options: tuple[str, ...], names: list[str]
) -> None:
    assert found(lb, asked, "plough", *options) == names


def test_a_project_is_named_from_where_one_is(
    lb: Lb, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "my ship"
    (here / "hull").mkdir(parents=True)
    log = Claude(cwd=str(here / "hull"))
    write_tree(Path.home() / ".claude", {"projects/x/s.jsonl": jsonl(log.user("plough"))})
    lb("sources", "add", "claude", "--index", index)
    lb("sync", "--index", index)
    monkeypatch.chdir(here)
    assert found(lb, index, "plough", "--project", ".") == ["s"]
    assert found(lb, index, "plough", "--project", "./hull") == ["s"]
    assert found(lb, index, "plough", "--project", "./mast") == []


def test_a_hit_in_an_answer_shows_the_exchange(lb: Lb, asked: Path) -> None:
    options = ("--mode", "keyword", "--index", asked, "--json", "--role", "assistant")
    (hit,) = lb("search", "plough", *options).json["hits"]
    assert (hit["role"], hit["title"]) == ("assistant", "Anchors compared")
    assert hit["said_at"] == "2026-02-01T23:59:30+00:00"
    assert hit["heading_path"][0].startswith("Compare the anchors. A long story")
    shown = lb("show", hit["id"], "--index", asked, "--json").json
    assert shown["text"].strip() == "The plough holds in mud."
    assert shown["question"] == LONG.strip()
    assert shown["said_at"] == hit["said_at"]
    facts = shown["metadata"]
    assert (facts["project"], facts["git_branch"]) == ("/home/ana/ship/hull", "caulking")
    assert facts["session"] == "7b0c2f5e-0000-4a2b-9c3d-00000000abcd"
    question = lb("show", shown["question_id"], "--index", asked, "--json").json
    assert (question["role"], question["question"]) == ("user", "")
    for_people = lb("show", hit["id"], "--index", asked)
    assert for_people.out.strip() == "The plough holds in mud."
    for part in ("Anchors compared", "/home/ana/ship/hull", "caulking", "Compare the anchors."):
        assert part in for_people.err


def test_status_counts_what_was_masked_and_skipped(lb: Lb, asked: Path) -> None:
    token = "gh" + "p_" + "a1B2" * 9
    log = Claude(sessionId="0dd")
    write_tree(
        Path.home() / ".claude",
        {
            "projects/x/four.jsonl": jsonl(log.user(f"Use {token}"), log.assistant(token)),
            "projects/x/five.jsonl": jsonl({"type": "telepathy"}, {"type": "smoke"}, log.user("x")),
        },
    )
    lb("sync", "--index", asked)
    status = lb("status", "--index", asked, "--json").json
    assert status["masked_secrets"] == 2
    assert status["skipped_records"] == {"telepathy": 3, "smoke": 1}
    for_people = lb("status", "--index", asked).out
    assert "masked     2 secrets" in for_people
    assert "4 records of unknown types: 3 telepathy, 1 smoke" in for_people
