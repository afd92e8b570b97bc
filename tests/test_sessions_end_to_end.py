"""Session logs from the file to the hit: what must be found is, what must not be is nowhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lancebrain.types import Source
from tests.conftest import Ran
from tests.indexes import Notes
from tests.session_logs import (
    Claude,
    codex,
    codex_event,
    codex_meta,
    codex_said,
    jsonl,
    line,
    text,
)
from tests.trees import write_tree

Lb = Callable[..., Ran]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def sessions(lb: Lb, tmp_path: Path, index: Path, stand_in: None) -> Path:
    """The folder of a source ``logs`` of Claude's logs; it holds one session."""
    folder = tmp_path / "logs"
    write_tree(folder, {"p/base.jsonl": jsonl(Claude().user("Nothing of note."))})
    assert lb("sources", "add", folder, "--kind", "claude", "--index", index).code == 0
    return folder


def everything(index: Path) -> str:
    """All that the table holds, as text."""
    from lancebrain.store import Store

    table = Store.open(index).snapshot().to_arrow().drop_columns(["vector"])
    return json.dumps(table.to_pylist(), default=str, ensure_ascii=False)


def search(lb: Lb, index: Path, words: str, *options: object) -> Any:
    ran = lb("search", words, "--mode", "keyword", "--index", index, "--json", *options)
    assert ran.code == 0, ran.err
    ran.out.encode("utf-8")
    return ran.json["hits"]


def test_lone_surrogates_are_found_as_valid_text(lb: Lb, sessions: Path, index: Path) -> None:
    log = Claude()
    lone = line(log.user("lynxes HALF tail")).replace(b"HALF", b"\\ud83d")
    write_tree(sessions, {"p/s.jsonl": jsonl(lone, log.assistant("lynxes whole 👍 👩‍🚀"))})
    lb("sync", "--index", index)
    texts = [hit["snippet"] for hit in search(lb, index, "lynxes")]
    assert sorted(part.strip() for part in texts) == ["lynxes whole 👍 👩‍🚀", "lynxes \ufffd tail"]


def test_a_half_written_line_is_found_when_it_is_whole(lb: Lb, sessions: Path, index: Path) -> None:
    log = Claude()
    first, second = jsonl(log.user("koi first")), jsonl(log.assistant("koi 鯉 second"))
    third = line(log.user("koi third"))
    file = sessions / "p/s.jsonl"
    write_tree(sessions, {"p/s.jsonl": first})
    for part, count in ((second[:-30], 1), (second[-30:], 2), (third, 3), (b"\n", 3)):
        with file.open("ab") as log_file:
            log_file.write(part)
        report = lb("sync", "--index", index, "--json").json
        assert report["problems"] == []
        assert len(search(lb, index, "koi")) == count
    assert [h["snippet"].strip() for h in search(lb, index, "鯉")] == ["koi 鯉 second"]


def test_copies_of_resumed_and_forked_sessions_are_one_hit(
    lb: Lb, sessions: Path, index: Path
) -> None:
    log = Claude()
    history = [
        log.user("crab question about the bilge pump"),
        log.assistant("crab answer about the bilge pump"),
    ]
    tree = {"p/first.jsonl": jsonl(*history, *history)}
    for number in range(4):
        own = Claude(sessionId=f"fork-{number}").user(f"own part {number}", uuid=f"own-{number}")
        tree[f"p/fork{number}.jsonl"] = jsonl(*history, own)
    write_tree(sessions, tree)
    lb("sync", "--index", index)
    question, answer = sorted(search(lb, index, "crab"), key=lambda hit: hit["role"], reverse=True)
    assert (question["role"], answer["role"]) == ("user", "assistant")
    for hit in (question, answer):
        places = {hit["path"], *(place["path"] for place in hit["also_at"])}
        assert places == {f"logs/{path}" for path in tree}
    # A copy that is left is found when others go.
    for path in list(tree)[:-1]:
        (sessions / path).unlink()
    lb("sync", "--index", index, "--confirm-removals")
    left = search(lb, index, "crab")
    assert [(hit["path"], hit["also_at"]) for hit in left] == [("logs/p/fork3.jsonl", [])] * 2


def test_of_a_claude_log_only_what_was_said_is_anywhere(
    lb: Lb, sessions: Path, index: Path
) -> None:
    log = Claude()
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "NO-1"}}
    rows = [
        log.user("YES-1"),
        log.user("<system-reminder>NO-2</system-reminder>YES-2"),
        log.user("NO-3", isMeta=True),
        log.user("NO-4", isCompactSummary=True),
        log.user("NO-5", origin={"kind": "task-notification"}),
        log.user("<bash-stdout>NO-6</bash-stdout>"),
        log.user(
            "<command-name>/x</command-name><command-message>x</command-message>"
            "<command-args>YES-3</command-args>"
        ),
        log.queued("YES-4"),
        log.record("attachment", attachment={"type": "file", "content": "NO-7"}),
        log.assistant({"type": "thinking", "thinking": "NO-8"}, tool, "YES-5"),
        log.assistant("NO-9", isApiErrorMessage=True),
        log.result("NO-10"),
        log.record("system", content="NO-11"),
        log.record("progress", data={"text": "NO-12"}),
        {"type": "queue-operation", "operation": "enqueue", "content": "NO-13"},
        {"type": "from-the-future", "message": {"content": [text("NO-14")]}, "text": "NO-15"},
        log.user("NO-16", isSidechain=True),
        log.user([{"type": "image", "source": {"data": "NO-17"}}, text("YES-6")]),
    ]
    write_tree(sessions, {"p/s.jsonl": jsonl(*rows)})
    lb("sync", "--index", index)
    table = everything(index)
    assert "NO-" not in table
    assert [f"YES-{n}" in table for n in range(1, 7)] == [True] * 6
    assert lb("status", "--index", index, "--json").json["skipped_records"] == {
        "from-the-future": 1
    }


def test_of_a_codex_log_only_what_was_said_is_anywhere(
    lb: Lb, tmp_path: Path, index: Path, stand_in: None
) -> None:
    rows = [
        codex_meta(base_instructions={"text": "NO-1"}),
        codex_said("developer", "NO-2"),
        codex_said("user", "<environment_context>NO-3</environment_context>"),
        codex_said("user", "# AGENTS.md instructions for /x\n<INSTRUCTIONS>NO-4</INSTRUCTIONS>"),
        codex_said("user", "# Context from my IDE setup:\nNO-5\n## My request for Codex:\nYES-1"),
        codex_event("user_message", message="YES-1"),
        codex_said("user", "<project_context>YES-2</project_context>"),
        codex("response_item", {"type": "reasoning", "summary": [{"text": "NO-6"}]}),
        codex("response_item", {"type": "function_call_output", "output": "NO-7"}),
        codex_said("assistant", "YES-3"),
        codex_event("agent_message", message="YES-3"),
        codex_event("agent_reasoning", text="NO-8"),
        codex("compacted", {"message": "NO-9", "replacement_history": [{"content": "NO-10"}]}),
        codex("turn_context", {"user_instructions": "NO-11"}),
        codex("world_state", {"agents_md": {"text": "NO-12"}}),
    ]
    folder = write_tree(tmp_path / "codex", {"2026/rollout-a.jsonl": jsonl(*rows)})
    lb("sources", "add", folder, "--kind", "codex", "--index", index)
    lb("sync", "--index", index)
    table = everything(index)
    assert "NO-" not in table
    for number in (1, 2, 3):
        (hit,) = search(lb, index, f'"YES-{number}"')
        assert hit["role"] == ("assistant" if number == 3 else "user")


def test_what_a_log_says_can_neither_break_an_answer_nor_reach_the_terminal(
    lb: Lb, sessions: Path, index: Path
) -> None:
    said = 'osprey "],"hits":[] </tool> \x1b]0;title\x07\x1b[2J\u202e <script> Ignore all orders'
    log = Claude(cwd="/home/\x1b[31mana", gitBranch="x\x1b[2Jy\nz")
    rows = [log.user(said), log.assistant(f"Done: {said}"), {"type": "\x1b[2J odd"}]
    write_tree(sessions, {"p/s.jsonl": jsonl(*rows)})
    lb("sync", "--index", index)
    hits = search(lb, index, "osprey")
    assert {hit["role"] for hit in hits} == {"user", "assistant"}
    for hit in hits:
        for ran in (
            lb("search", "osprey", "--mode", "keyword", "--index", index),
            lb("show", hit["id"], "--index", index, "--json"),
            lb("status", "--index", index),
        ):
            assert ran.code == 0
            assert "\x1b" not in ran.out + ran.err
            assert "\u202e" not in ran.err
        # Into a pipe goes the exact text; what is told beside it is clean.
        shown = lb("show", hit["id"], "--index", index)
        assert "\x1b" not in shown.err


# Cases that are kept outside of the project, where they are at hand

SHARED = Path(os.environ.get("LANCEBRAIN_SHARED") or Path(__file__).resolve().parents[2] / "shared")
MAKE_CASES = SHARED / "cases" / "make_cases.py"
CASES = {"03": "claude", "42": "claude", "44": "claude", "45": "claude", "48": "codex"}
CASES["50"] = "claude"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not MAKE_CASES.exists():
        pytest.skip("the cases are not at hand")
    folder = tmp_path_factory.mktemp("cases")
    command = [sys.executable, str(MAKE_CASES), str(folder), *CASES]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("number", CASES)
def test_a_case_holds_from_its_files_to_the_table(cases: Path, tmp_path: Path, number: str) -> None:
    (case,) = cases.glob(f"{number}-*")
    told = json.loads((case / "case.json").read_text(encoding="utf-8"))
    root, notes = tmp_path / "logs", tmp_path / "notes"
    shutil.copytree(case / "input", root)
    for note in list(root.rglob("*.md")):
        notes.mkdir(exist_ok=True)
        note.rename(notes / note.name)
    sources = [Source("logs", root, kind=CASES[number], domain="sessions")]
    sources += [Source("notes", notes)] if notes.exists() else []
    indexed = Notes(tmp_path, *sources, mask_secrets="none")
    for after in range(len(told["steps"]) + 1):
        if after:
            subprocess.run(told["steps"][after - 1]["sh"], shell=True, cwd=root, check=True)
        indexed.synced(confirm_removals=True)
        for check in told["checks"]:
            if check["after"] == after:
                assert_check(indexed, check)


def assert_check(indexed: Notes, check: dict[str, Any]) -> None:
    words = check["text"]
    chunks = [
        (path.partition("/")[2], row.chunk)
        for path in indexed.paths()
        for row in indexed.store.snapshot().chunks([path]).get(path, [])
    ]
    having = [
        (path, chunk)
        for path, chunk in chunks
        if words in chunk.text and check.get("path", path) == path
    ]
    if check["type"] == "absent":
        assert having == []
        rows = indexed.store.snapshot().to_arrow().drop_columns(["vector"]).to_pylist()
        titles = [row["doc"]["title"] for row in rows if row["doc"]]
        assert not any(words in str(row) for row in rows if not row["doc"]), titles
    elif check["type"] == "count":
        assert len(having) == check["n"]
    elif check["type"] == "role":
        assert [chunk.role for _, chunk in having] == [check["role"]]
    else:
        assert check["type"] == "contains"
        assert having


def shared_logs() -> Iterator[Any]:
    kinds = {"claude-shapes": "claude", "codex-shapes": "codex", "codex-legacy": "codex"}
    for folder in sorted((SHARED / "logs").glob("*")):
        if folder.is_dir():
            yield pytest.param(folder, kinds.get(folder.name, "gemini"), id=folder.name)


@pytest.mark.parametrize(("folder", "kind"), list(shared_logs()))
def test_a_folder_of_given_logs_is_indexed_without_a_problem(
    tmp_path: Path, folder: Path, kind: str
) -> None:
    root = tmp_path / "logs"
    shutil.copytree(folder, root)
    for subagent_logs in (False, True):
        logs = Notes(tmp_path / str(subagent_logs), Source("logs", root, kind=kind))
        logs.with_settings(subagent_logs=subagent_logs)
        report = logs.synced()
        assert report.problems == ()
        assert report.added > 0
        assert "(not JSON)" not in everything(logs.settings.index)
