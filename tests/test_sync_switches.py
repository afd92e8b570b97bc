"""Switches that change how files are read: they take effect at the next sync."""

from __future__ import annotations

from pathlib import Path

import pytest

from lancebrain.types import Source
from lancebrain.versions import NoteRestorer
from tests.indexes import Notes
from tests.session_logs import Claude, jsonl

TOKEN = "gh" + "p_" + "a1B2" * 9
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" + "QIBAAKCAQEA" * 5 + "\n"
    "-----END RSA PRIVATE KEY-----"
)
SUBAGENT = "logs/s/subagents/agent-a1.jsonl"


@pytest.fixture
def logs(tmp_path: Path) -> Notes:
    """A session with a token, another without, and a sub-agent's log."""
    (tmp_path / "logs").mkdir()
    logs = Notes(tmp_path, Source("logs", tmp_path / "logs", kind="claude", domain="sessions"))
    logs.root = tmp_path / "logs"
    log, side = Claude(), Claude(isSidechain=True, agentId="a1")
    return logs.write(
        {
            "s.jsonl": jsonl(log.user(f"Log in with {TOKEN}"), log.assistant("Done.")),
            "t.jsonl": jsonl(Claude().user("Which anchor?")),
            "s/subagents/agent-a1.jsonl": jsonl(side.user("Search."), side.assistant("Found.")),
        }
    )


def test_masking_that_is_switched_changes_only_texts_with_secrets(logs: Notes) -> None:
    logs.synced()
    for mask_secrets in ("none", "logs"):
        logs.with_settings(mask_secrets=mask_secrets)
        report = logs.synced()
        assert (TOKEN in logs.everything()) is (mask_secrets == "none")
        # The prompt with the token, and the answer, which has it in its heading.
        assert report.embedded + report.reused == 2
        assert all("anchor" not in text for text in logs.embedder.texts)
        assert logs.synced().unchanged == 2


def test_subagents_that_are_switched_come_and_go(logs: Notes) -> None:
    logs.synced()
    assert logs.texts(SUBAGENT) == []
    logs.with_settings(subagent_logs=True)
    assert logs.synced().embedded == 2
    assert [text.strip() for text in logs.texts(SUBAGENT)] == ["Search.", "Found."]
    logs.with_settings(subagent_logs=False)
    assert logs.synced().embedded == 0
    assert logs.texts(SUBAGENT) == []


def test_a_switch_and_a_growing_log_at_once(logs: Notes) -> None:
    logs.synced()
    logs.with_settings(mask_secrets="none")
    with (logs.root / "s.jsonl").open("ab") as file:
        file.write(jsonl(Claude().user("And the chain?", uuid="u-9")))
    logs.synced()
    assert TOKEN in logs.everything()


def test_a_switch_and_a_move_at_once(logs: Notes) -> None:
    logs.synced()
    logs.with_settings(mask_secrets="none")
    (logs.root / "s.jsonl").rename(logs.root / "moved.jsonl")
    logs.synced()
    assert TOKEN in logs.text("logs/moved.jsonl")


def test_a_scoped_sync_leaves_the_switch_of_other_logs_to_the_next(logs: Notes) -> None:
    logs.synced()
    logs.with_settings(mask_secrets="none")
    logs.sync(["logs/t.jsonl"])
    assert TOKEN not in logs.everything()
    logs.synced()
    assert TOKEN in logs.everything()


def test_a_damaged_archive_is_not_tried_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    logs = Notes(tmp_path, Source("logs", tmp_path / "logs", kind="codex"))
    logs.root = tmp_path / "logs"
    logs.write({"rollout-a.jsonl.zst": b"\x28\xb5\x2f\xfd broken"})
    assert [problem.code for problem in logs.synced().problems] == ["damaged-archive"]
    logs.with_settings(subagent_logs=True)
    assert logs.synced().changed == 0


# Notes


NOTE = f"---\ntitle: Keys\ntoken: {TOKEN}\n---\n# {TOKEN}\n\n{KEY}\n\nSee [[{TOKEN}]].\n\nEnd.\n"


def test_notes_are_masked_only_where_that_is_asked(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({"a.md": NOTE, "b.md": "# Anchors\n", "c.txt": TOKEN})
    notes.synced()
    assert notes.text("notes/a.md") == NOTE
    notes.with_settings(mask_secrets="all")
    report = notes.synced()
    assert report.changed == 3
    assert "Anchors" not in "".join(notes.embedder.texts)
    rows = str([row | {"vector": None} for row in notes.store.snapshot().to_arrow().to_pylist()])
    assert TOKEN not in rows
    assert "MIIEow" not in rows
    assert notes.text("notes/a.md").count("\n") == NOTE.count("\n")
    assert notes.text("notes/c.txt") == "[secret: github-token]"
    states = notes.store.snapshot().documents()
    assert '"masked_secrets":4' in states["notes/a.md"].metadata_json
    assert "masked_secrets" not in states["notes/b.md"].metadata_json
    notes.with_settings(mask_secrets="logs")
    notes.synced()
    assert notes.text("notes/a.md") == NOTE


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe" + f"key {TOKEN}\r\nÄ".encode("utf-16-le"),
        f"key {TOKEN}\nGrüße aus Köln, schöne Äpfel\n".encode("latin-1"),
        b"key " + TOKEN.encode() + b"\nstray \x81\x8d\n" + b"plain text of some length\n" * 90,
        TOKEN.encode() + b"\0\0",
        b"---\ntoken: " + TOKEN.encode() + b"\n---\n",
    ],
)
def test_no_bytes_of_a_masked_note_are_kept_beside_it(tmp_path: Path, data: bytes) -> None:
    notes = Notes(tmp_path, mask_secrets="all").write({"a.md": data})
    notes.synced()
    assert TOKEN not in notes.text("notes/a.md")
    state = notes.store.snapshot().documents()["notes/a.md"]
    assert TOKEN.encode() not in (state.raw or b"")


def test_a_masked_note_is_not_written_back(tmp_path: Path) -> None:
    notes = Notes(tmp_path, mask_secrets="all").write({"a.md": NOTE, "b.md": "# Anchors\n"})
    notes.synced()
    for name in ("a.md", "b.md"):
        (notes.root / name).unlink()
    restorer = NoteRestorer(notes.store, notes.settings.sources)
    (back,) = restorer.restore("notes/b.md")
    assert back.done
    (left,) = restorer.restore("notes/a.md")
    assert (left.done, left.why) == (False, "its secrets are masked in the index")
    assert not (notes.root / "a.md").exists()


def test_a_log_is_not_written_back(logs: Notes) -> None:
    logs.synced()
    (logs.root / "s.jsonl").unlink()
    (left,) = NoteRestorer(logs.store, logs.settings.sources).restore(
        "logs/s.jsonl", overwrite=True
    )
    assert not left.done
    assert "what was said" in left.why
    assert not (logs.root / "s.jsonl").exists()


# Chat exports


def test_a_source_says_what_the_fields_of_its_exports_are_called(tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    fields = (("role", ("who",)), ("content", ("body", "text")), ("user", ("me",)))
    source = Source("chats", tmp_path / "chats", kind="jsonl", fields=fields)
    chats = Notes(tmp_path, source)
    chats.root = source.root
    row = b'{"who":"me","body":"Which anchor?"}\n{"who":"bot","text":"The plough."}\n'
    chats.write({"a.jsonl": row})
    chats.synced()
    assert [text.strip() for text in chats.texts("chats/a.jsonl")] == [
        "Which anchor?",
        "The plough.",
    ]
    usual = Source("chats", source.root, kind="jsonl")
    chats.with_settings(sources=(usual,))
    chats.synced()
    assert chats.texts("chats/a.jsonl") == []
