"""Session logs in the index: appending is the normal case."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lancebrain.readers import session
from lancebrain.store import RowBatch
from lancebrain.sync import reading
from lancebrain.types import Source
from tests.indexes import Notes
from tests.session_logs import (
    Claude,
    Record,
    codex_meta,
    codex_said,
    compressed,
    gemini_head,
    gemini_said,
    jsonl,
)

PATH = "logs/-home-ana/s.jsonl"


class Logs(Notes):
    """One source ``logs`` of session logs and its index."""

    def __init__(self, folder: Path, kind: str = "claude", **settings: Any) -> None:
        self.root = folder / "logs"
        self.file = self.root / "-home-ana" / "s.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        source = Source("logs", self.root, kind=kind, domain="sessions")
        super().__init__(folder, source, **settings)
        self.root = folder / "logs"

    def append(self, data: bytes) -> None:
        with self.file.open("ab") as file:
            file.write(data)

    def turns(self, path: str = PATH) -> list[tuple[str | None, str]]:
        rows = self.store.snapshot().chunks([path]).get(path, [])
        return [(row.chunk.role, row.chunk.text.strip()) for row in rows]


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("the log was read from its start")


def test_turns_are_rows_with_role_time_question_and_line(logs: Logs) -> None:
    log = Claude()
    logs.append(jsonl(log.user("Which anchor?"), log.result("NO"), log.assistant("The plough.")))
    report = logs.synced()
    assert (report.added, report.problems) == (1, ())
    assert logs.turns() == [("user", "Which anchor?"), ("assistant", "The plough.")]
    snapshot = logs.store.snapshot()
    first, second = snapshot.chunks([PATH])[PATH]
    assert second.chunk.heading_path == ("Which anchor?",)
    assert second.chunk.said_at is not None
    assert second.chunk.said_at.minute == 3
    located = snapshot.passages([(PATH, first.chunk_index), (PATH, second.chunk_index)]).places
    assert located[PATH, second.chunk_index].line_start == 3
    state = snapshot.documents([PATH])[PATH]
    assert (state.kind, state.domain, state.title) == ("claude", "sessions", "Which anchor?")
    assert '"project":"/home/ana/ship"' in state.metadata_json


def test_an_appended_turn_is_read_and_embedded_alone(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Claude()
    logs.append(jsonl(*[log.user(f"question {n}") for n in range(50)]))
    logs.synced()
    logs.append(jsonl(log.result("NO"), log.user("And the chain?"), log.result("NO")))
    with monkeypatch.context() as patch:
        patch.setattr(session, "read_stream", refuse)
        report = logs.sync()
    assert (report.changed, report.embedded) == (1, 1)
    # The document row, the row before, whose lines grow, and the new one.
    assert report.rows_written == 3
    assert logs.embedder.texts == ["And the chain?"]
    logs.synced()
    assert logs.turns()[-1] == ("user", "And the chain?")


def test_lines_without_a_turn_embed_nothing(logs: Logs) -> None:
    log = Claude()
    logs.append(jsonl(log.user("Which anchor?")))
    logs.synced()
    logs.append(jsonl(log.result("NO"), {"type": "custom-title", "customTitle": "Anchors"}))
    report = logs.synced()
    assert (report.embedded, report.rows_written) == (0, 2)
    assert logs.store.snapshot().documents([PATH])[PATH].title == "Anchors"


def test_a_half_written_line_is_found_once_it_is_whole(logs: Logs) -> None:
    log = Claude()
    logs.append(jsonl(log.user("koi")))
    second = jsonl(log.assistant("a carp 鯉"))
    for place in range(0, len(second), 40):
        logs.append(second[place : place + 40])
        logs.synced()
    assert logs.turns() == [("user", "koi"), ("assistant", "a carp 鯉")]
    assert logs.sync().changed == 0


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from(["user", "answer", "tool", "again", "half", "cut", "new"]), max_size=6)
)
def test_a_log_that_changes_in_any_way_is_as_in_a_fresh_index(
    tmp_path_factory: pytest.TempPathFactory, steps: Sequence[str]
) -> None:
    logs, log = Logs(tmp_path_factory.mktemp("logs")), Claude()
    first = log.user("first")
    logs.append(jsonl(first))
    logs.synced()
    for step in steps:
        size = logs.file.stat().st_size
        if step == "user":
            logs.append(jsonl(log.user("more " * 500)))
        elif step == "answer":
            logs.append(jsonl(log.assistant("Yes")))
        elif step == "tool":
            logs.append(jsonl(log.result("NO")))
        elif step == "again":
            logs.append(jsonl(first, log.user("changed", uuid=first["uuid"])))
        elif step == "half":
            logs.append(jsonl(log.user("half"))[:50])
        elif step == "cut":
            os.truncate(logs.file, size // 2)
        else:
            logs.file.write_bytes(jsonl(Claude().user("another session"), first))
        logs.synced()


def test_a_log_that_was_touched_or_shall_be_mended_is_read_anew(logs: Logs) -> None:
    log = Claude()
    logs.append(jsonl(log.user("Which anchor?"), log.assistant("The plough.")))
    logs.synced()
    data = logs.file.read_bytes()
    with logs.file.open("r+b") as file:
        file.write(data.replace(b"Which", b"Whose"))
    logs.synced()
    assert logs.turns()[0] == ("user", "Whose anchor?")
    row = logs.store.snapshot().chunks([PATH])[PATH][0]
    with logs.store.lock(1):
        batch = RowBatch()
        batch.tombstone(PATH, row.chunk_index)
        state = logs.store.snapshot().documents([PATH])[PATH]
        batch.document(replace(state, sha256="", size=-1))
        logs.store.commit(batch, reason="repair", counts={}, started=0.0)
    logs.synced()
    assert logs.turns()[0] == ("user", "Whose anchor?")


def test_a_moved_log_keeps_its_vectors_and_goes_on(logs: Logs) -> None:
    log = Claude()
    logs.append(jsonl(log.user("Which anchor?"), log.assistant("The plough.")))
    logs.synced()
    moved = logs.root / "archived" / "s.jsonl"
    moved.parent.mkdir()
    logs.file.rename(moved)
    report = logs.synced()
    assert (report.moved, report.embedded) == (1, 0)
    logs.file = moved
    logs.append(jsonl(log.user("Thanks")))
    assert logs.synced().embedded == 1
    assert logs.turns("logs/archived/s.jsonl")[-1] == ("user", "Thanks")


def test_a_fork_embeds_only_what_is_its_own(logs: Logs) -> None:
    log = Claude()
    history = [log.user("Which anchor?"), log.assistant("The plough.")]
    logs.append(jsonl(*history))
    logs.synced()
    fork = [record | {"sessionId": "fork"} for record in history]
    logs.write({"-home-ana/fork.jsonl": jsonl(*fork, log.user("And the chain?"))})
    report = logs.synced()
    assert (report.added, report.embedded) == (1, 1)
    hashes = [
        [row.chunk.chunk_hash for row in rows]
        for rows in logs.store.snapshot().chunks(logs.paths()).values()
    ]
    assert len({tuple(of_log[:2]) for of_log in hashes}) == 1


def test_a_log_may_be_larger_than_other_files(tmp_path: Path) -> None:
    logs = Logs(tmp_path, max_file_bytes=500)
    log = Claude()
    logs.append(jsonl(log.result("NO " * 500), log.user("Which anchor?")))
    assert logs.synced().problems == ()
    assert logs.turns() == [("user", "Which anchor?")]


def test_secrets_are_masked_unless_they_shall_not_be(tmp_path: Path) -> None:
    token = "gh" + "p_" + "a1B2" * 9
    for mask_secrets in ("logs", "all", "none"):
        folder = tmp_path / mask_secrets
        folder.mkdir()
        logs = Logs(folder, mask_secrets=mask_secrets)
        logs.append(jsonl(Claude().user(f"Use {token}")))
        logs.synced()
        assert (token in logs.everything()) is (mask_secrets == "none")
        state = logs.store.snapshot().documents([PATH])[PATH]
        assert ('"masked_secrets":1' in state.metadata_json) is (mask_secrets != "none")


def test_subagents_logs_are_not_even_read_unless_they_shall_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = Claude(isSidechain=True, agentId="a1")
    rows = jsonl(side.user("You search."), side.assistant("Found."))
    path = "logs/-home-ana/s/subagents/agent-a1.jsonl"
    logs = Logs(tmp_path)
    logs.write({path.removeprefix("logs/"): rows})
    with monkeypatch.context() as patch:
        patch.setattr(reading, "in_file", refuse)
        logs.sync()
    assert logs.paths() == []
    logs.with_settings(subagent_logs=True)
    assert logs.synced().added == 1
    assert [role for role, _ in logs.turns(path)] == ["assistant", "assistant"]
    tags = [row.chunk.tags for row in logs.store.snapshot().chunks([path])[path]]
    assert tags == [("subagent",), ("subagent",)]


def test_many_subagents_logs_go_unasked_when_they_are_switched_off(tmp_path: Path) -> None:
    logs = Logs(tmp_path, subagent_logs=True)
    logs.append(jsonl(Claude().user("Which anchor?")))
    side = Claude(isSidechain=True, agentId="a")
    logs.write(
        {f"-home-ana/s/subagents/agent-{n}.jsonl": jsonl(side.user(f"s{n}")) for n in range(60)}
    )
    assert logs.synced().added == 61
    logs.with_settings(subagent_logs=False)
    report = logs.synced()
    assert (report.removed, report.problems) == (60, ())
    assert logs.paths() == [PATH]


def test_a_codex_subagents_log_is_known_by_its_content_and_empty(tmp_path: Path) -> None:
    logs = Logs(tmp_path, "codex")
    logs.write(
        {"rollout-a.jsonl": jsonl(codex_meta(thread_source="subagent"), codex_said("user", "NO"))}
    )
    logs.synced()
    assert logs.turns("logs/rollout-a.jsonl") == []
    logs.with_settings(subagent_logs=True)
    logs.synced()
    assert logs.turns("logs/rollout-a.jsonl") == [("assistant", "NO")]


def test_a_log_that_is_there_plain_and_compressed_counts_once(tmp_path: Path) -> None:
    logs = Logs(tmp_path, "codex")
    name = "archived_sessions/rollout-a.jsonl"
    head = [codex_meta(), codex_said("user", "Which anchor?")]
    archive = compressed(jsonl(*head))
    logs.write({f"{name}.zst": archive})
    assert logs.synced().added == 1
    assert logs.turns(f"logs/{name}.zst") == [("user", "Which anchor?")]
    # Its program brings it back to go on; both are there until the archive is deleted.
    logs.write({name: jsonl(*head, codex_said("assistant", "The plough."))})
    report = logs.sync([f"logs/{name}"])
    assert (report.added, report.embedded) == (1, 1)
    logs.synced()
    assert logs.paths() == [f"logs/{name}"]
    logs.synced([f"logs/{name}.zst"])
    assert logs.paths() == [f"logs/{name}"]
    # And compresses it again.
    logs.write({f"{name}.zst": compressed(logs.root.joinpath(name).read_bytes())})
    logs.root.joinpath(name).unlink()
    assert logs.synced().embedded == 0
    assert logs.paths() == [f"logs/{name}.zst"]
    assert len(logs.turns(f"logs/{name}.zst")) == 2


@pytest.mark.parametrize(
    ("kind", "name", "head", "rows"),
    [
        (
            "codex",
            "rollout-a.jsonl",
            codex_meta(),
            [codex_said("user", "a"), codex_said("user", "b")],
        ),
        ("gemini", "session-a.jsonl", gemini_head(), [gemini_said("user", t, t) for t in "ab"]),
        ("jsonl", "chat.jsonl", {"role": "system"}, [{"role": "user", "content": t} for t in "ab"]),
    ],
)
def test_logs_of_every_kind_grow(
    tmp_path: Path, kind: str, name: str, head: Record, rows: list[Record]
) -> None:
    logs = Logs(tmp_path, kind)
    for row in (head, *rows):
        logs.file = logs.root / name
        logs.append(jsonl(row))
        logs.synced()
    assert logs.turns(f"logs/{name}") == [("user", "a"), ("user", "b")]


def test_an_empty_or_foreign_file_of_the_folder_is_no_problem(logs: Logs) -> None:
    logs.write(
        {
            "-home-ana/empty.jsonl": b"",
            "-home-ana/journal.jsonl": jsonl({"type": "started", "key": "k"}),
            "history.jsonl": jsonl({"display": "NO", "timestamp": 1}),
        }
    )
    assert logs.synced().problems == ()
    assert logs.everything().strip() == ""
