"""Logs and cases that are kept outside of the project, where they are at hand.

They are looked for in the folder that ``LANCEBRAIN_SHARED`` names, or in ``shared`` beside the
repository; what they teach is in the other tests too, with input of their own.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lancebrain.readers.session import (
    HEAD_BYTES,
    SessionOptions,
    detect,
    is_subagent_log,
    read,
    resume,
)
from lancebrain.types import Document
from tests.session_logs import said

SHARED = Path(os.environ.get("LANCEBRAIN_SHARED") or Path(__file__).resolve().parents[2] / "shared")
LOGS = SHARED / "logs"
MAKE_CASES = SHARED / "cases" / "make_cases.py"
KINDS = {"claude-shapes": "claude", "codex-shapes": "codex", "codex-legacy": "codex"}
OPTIONS = SessionOptions(mask_secrets=False)


def sample_logs() -> Iterator[tuple[Path, str]]:
    for path in sorted(LOGS.rglob("*.json*")):
        if not path.name.endswith(".meta.json"):
            yield path, KINDS.get(path.relative_to(LOGS).parts[0], "gemini")


samples = pytest.mark.parametrize(
    ("path", "kind"),
    [pytest.param(*sample, id=str(sample[0].relative_to(LOGS))) for sample in sample_logs()],
)


def found_in(path: Path, kind: str, options: SessionOptions = OPTIONS) -> Document:
    found = read(str(path), kind, path.read_bytes(), options)
    assert isinstance(found, Document)
    return found


@samples
def test_every_sample_is_read_and_tiled(path: Path, kind: str) -> None:
    for subagents in (False, True):
        found = found_in(path, kind, SessionOptions(mask_secrets=False, subagents=subagents))
        assert "".join(found.text[block.start : block.end] for block in found.blocks) == found.text
        assert not found.problems
        assert "(not JSON)" not in json.dumps(dict(found.metadata))


@samples
def test_no_sample_gives_what_is_left_out(path: Path, kind: str) -> None:
    words = found_in(path, kind).text
    for mark in ("Exit code", "Placeholder thoughts", "Process Group", "Reasoning goes here"):
        assert mark not in words


@samples
def test_every_sample_is_known_by_its_content(path: Path, kind: str) -> None:
    head = path.read_bytes()[:HEAD_BYTES]
    # The oldest fixtures are messages without any mark of a program; a history is no session.
    bare = path.name in ("session_branch.jsonl", "session_simple.jsonl", "session_toolcall.jsonl")
    unmarked = path.name in ("gemini_logs.json", "schema_drift.jsonl") and kind != "claude"
    assert detect(head) == (None if unmarked else "jsonl" if bare else kind)
    assert is_subagent_log(str(path), head) == ("subagents" in path.parts)


@samples
def test_every_sample_in_two_pieces_says_what_it_says_at_once(path: Path, kind: str) -> None:
    data = path.read_bytes()
    whole = found_in(path, kind)
    half = read(str(path), kind, data[: len(data) // 2], OPTIONS)
    assert isinstance(half, Document)
    if half.reader_state is not None:
        appended = resume(str(path), kind, io.BytesIO(data), half.reader_state, OPTIONS)
        if appended is not None:
            assert half.text + appended.document.text == whole.text


# --- cases ------------------------------------------------------------------------------------

needs_cases = pytest.mark.skipif(not MAKE_CASES.exists(), reason="the cases are not at hand")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    subprocess.run(
        [sys.executable, str(MAKE_CASES), str(folder), "03", "42", "44", "45", "48", "50"],
        check=True,
        capture_output=True,
    )
    return folder


def turns_of(folder: Path, kind: str, options: SessionOptions = OPTIONS) -> list[tuple[str, str]]:
    turns: list[tuple[str, str]] = []
    for path in sorted(folder.rglob("*.jsonl")):
        found = read(str(path), kind, path.read_bytes(), options)
        assert isinstance(found, Document)
        turns += said(found)
    return turns


@needs_cases
@pytest.mark.parametrize(
    ("case", "kind"), [("03", "claude"), ("44", "claude"), ("48", "codex"), ("50", "claude")]
)
def test_the_checks_of_a_case_hold(cases: Path, case: str, kind: str) -> None:
    (folder,) = cases.glob(f"{case}-*")
    turns = turns_of(folder / "input", kind)
    words = "\n".join(text for _, text in turns)
    for check in json.loads((folder / "case.json").read_text())["checks"]:
        text = check.get("text", "")
        if check["type"] == "role":
            assert [role for role, said_text in turns if text in said_text] == [check["role"]]
        elif check["type"] == "absent":
            assert text not in words
        elif check["type"] == "count":
            assert words.count(text) == check["n"]
        elif check["path"].endswith(".jsonl"):
            assert text in words
    assert "SUB-" not in words
    words.encode()


@needs_cases
def test_a_subagents_log_of_a_case_is_found_on_request(cases: Path) -> None:
    (folder,) = cases.glob("44-*")
    with_subagents = SessionOptions(mask_secrets=False, subagents=True)
    turns = turns_of(folder / "input", "claude", with_subagents)
    assert [role for role, text in turns if "SUB-ray" in text] == ["assistant", "assistant"]
    (path,) = folder.rglob("agent-*.jsonl")
    assert is_subagent_log(str(path), path.read_bytes())


@needs_cases
def test_copies_of_a_case_count_once_in_a_log(cases: Path) -> None:
    (folder,) = cases.glob("45-*")
    for path in folder.rglob("*.jsonl"):
        texts = [text for _, text in said(found_in(path, "claude"))]
        assert len(texts) == len(set(texts))
    stream = said(found_in(next(folder.rglob("stream.jsonl")), "claude"))
    assert [text for _, text in stream] == ["Marker crab-partial grows", "Marker crab-second block"]


@needs_cases
def test_a_truncated_tail_of_a_case_is_completed(cases: Path) -> None:
    (folder,) = cases.glob("42-*")
    (path,) = folder.rglob("*.jsonl")
    data = path.read_bytes()
    found = read("a.jsonl", "claude", data, OPTIONS)
    assert isinstance(found, Document)
    texts = [text for _, text in said(found)]
    assert texts == ["Marker koi-first question"]
    state = found.reader_state
    for number in (2, 3, 4):
        data += (folder / "input" / f"tail{number}.part").read_bytes()
        assert state is not None
        appended = resume("a.jsonl", "claude", io.BytesIO(data), state, OPTIONS)
        assert appended is not None
        texts += [text for _, text in said(appended.document)]
        state = appended.document.reader_state
    assert texts == [
        "Marker koi-first question",
        "Marker koi-answer one",
        "Marker koi-nofinal 日本語の質問",
        "Marker koi-last",
    ]
