"""What a log of Gemini CLI says, in both of its forms."""

from __future__ import annotations

import json

from lancebrain.readers.session import detect, is_subagent_log
from tests.session_logs import (
    SESSION,
    Claude,
    Record,
    document,
    gemini_head,
    gemini_said,
    jsonl,
    lines,
    said,
)

TALK: list[Record] = [
    gemini_said("user", "Say hello", "g1"),
    gemini_said("info", "NO", "g2"),
    gemini_said("gemini", "", "g3", toolCalls=[{"result": [{"text": "NO"}]}], model="gemini-x"),
    gemini_said(
        "gemini",
        [{"text": "Hello, "}, {"functionCall": {"text": "NO"}}, {"text": "Ana."}],
        "g4",
        thoughts=[{"subject": "NO", "text": "NO"}],
        tokens={"input": 1},
    ),
    gemini_said("error", "NO", "g5"),
    gemini_said("warning", "NO", "g6"),
]
SAID = [("user", "Say hello"), ("assistant", "Hello, Ana.")]


def test_a_session_as_one_value_is_read_with_the_line_of_each_message() -> None:
    data = json.dumps(gemini_head(messages=TALK), indent=2).encode()
    found = document("gemini", data, "chats/session-a.json")
    assert said(found) == SAID
    line = next(n for n, row in enumerate(data.decode().split("\n"), 1) if '"id": "g4"' in row)
    assert lines(found) == [1, line - 1]
    assert sum(block.line_count or 0 for block in found.blocks) == data.count(b"\n") + 1
    assert found.blocks[1].heading_path == ("Say hello",)
    assert found.metadata["session"] == SESSION
    assert found.metadata["model"] == "gemini-x"
    assert found.reader_state is None  # rewritten whole at every change
    assert detect(data) == "gemini"


def test_a_session_in_lines_is_read_with_its_patches() -> None:
    found = document(
        "gemini",
        jsonl(
            gemini_head(),
            TALK[0],
            {"$set": {"lastUpdated": "2026-03-01T10:00:06.000Z"}},
            *TALK[1:],
            {"$set": {"summary": "Greeting"}},
            {"$rewindTo": "g1"},
        ),
    )
    assert said(found) == SAID
    assert lines(found) == [1, 6]
    assert found.title == "Greeting"
    assert "skipped_records" not in found.metadata
    assert detect(jsonl(gemini_head())) == "gemini"


def test_a_message_that_is_sent_again_counts_once_and_its_last_text_stands() -> None:
    first, again = gemini_said("gemini", "Hel", "g4"), gemini_said("gemini", "Good day", "g4")
    assert said(document("gemini", jsonl(gemini_head(), TALK[0], first, TALK[0], again))) == [
        ("user", "Say hello"),
        ("assistant", "Good day"),
    ]


def test_messages_within_the_head_or_a_patch_are_read() -> None:
    whole = document("gemini", jsonl(gemini_head(messages=TALK)))
    assert said(whole) == SAID
    patched = document("gemini", jsonl(gemini_head(), TALK[0], {"$set": {"messages": TALK}}))
    assert said(patched) == SAID


def test_what_was_typed_is_kept_without_the_files_put_behind_it() -> None:
    parts = [
        {"text": "explain @a.py"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "NO"},
    ]
    shown = gemini_said("user", "explain NO", "g2", displayContent=[{"text": "explain @b.py"}])
    context = gemini_said("user", "<session_context>NO</session_context>", "g3")
    found = document(
        "gemini", jsonl(gemini_head(), gemini_said("user", parts, "g1"), shown, context)
    )
    assert said(found) == [("user", "explain @a.py"), ("user", "explain @b.py")]


def test_earlier_names_of_fields_are_understood() -> None:
    parts = gemini_head(messages=[{"id": "m", "type": "model", "parts": [{"text": "Captured."}]}])
    assert said(document("gemini", json.dumps(parts, indent=1).encode())) == [
        ("assistant", "Captured.")
    ]
    history = {
        "history": [
            {"role": "user", "parts": [{"text": "What is it?"}, {"inlineData": {"data": "NO"}}]},
            {"role": "gemini", "parts": [{"text": "A buoy."}], "ts": 1_695_000_005},
        ],
        "start_time": "2025-12-16T23:47:00.000Z",
    }
    found = document("gemini", json.dumps(history, indent=2).encode())
    assert said(found) == [("user", "What is it?"), ("assistant", "A buoy.")]
    assert found.blocks[1].said_at is not None
    assert found.blocks[1].said_at.year == 2023


def test_unknown_kinds_of_message_are_counted() -> None:
    found = document("gemini", jsonl(gemini_head(), gemini_said("novel", "NO", "g1"), {"odd": 1}))
    assert found.metadata["skipped_records"] == {"(no type)": 1, "novel": 1}


def test_a_subagents_session_is_left_out_by_default() -> None:
    head = gemini_head(kind="subagent")
    for data in (jsonl(head, *TALK), json.dumps(head | {"messages": TALK}, indent=2).encode()):
        assert is_subagent_log("chats/session-a", data)
        assert document("gemini", data).text == ""
        assert len(said(document("gemini", data, subagents=True))) == 2
    main = gemini_head(kind="main", messages=[gemini_said("user", '"kind": "subagent"', "g1")])
    assert not is_subagent_log("chats/session-a", json.dumps(main, indent=2).encode())


def test_a_history_of_prompts_and_a_half_written_session_say_nothing() -> None:
    prompts = [{"sessionId": SESSION, "messageId": 0, "type": "user", "message": "NO"}]
    data = json.dumps(prompts, indent=2).encode()
    assert detect(data) is None
    assert document("gemini", data).text == ""
    half = json.dumps(gemini_head(messages=TALK), indent=2).encode()[:-40]
    found = document("gemini", half)
    assert (found.text, found.metadata["skipped_records"]) == ("", {"(not JSON)": 1})


def test_content_tells_more_than_the_folder() -> None:
    log = Claude()
    data = jsonl(log.user("In the wrong folder"))
    found = document("gemini", data)
    assert said(found) == [("user", "In the wrong folder")]
    assert found.kind == "gemini"  # the source's label stays
