"""Chat exports of any program, one JSON object a line."""

from __future__ import annotations

import pytest

from lancebrain.readers.session import Fields, detect
from tests.session_logs import document, jsonl, lines, said, text


def test_a_message_a_line_is_read() -> None:
    data = jsonl(
        {"role": "system", "content": "NO"},
        {"role": "user", "content": "Which knot?", "timestamp": "2026-03-01T10:00:00+09:00"},
        {"role": "tool", "content": "NO"},
        {"role": "assistant", "content": [text("A bowline."), {"type": "image", "text": "NO"}]},
        {"role": "Human", "content": "Thanks"},
    )
    found = document("jsonl", data)
    assert said(found) == [
        ("user", "Which knot?"),
        ("assistant", "A bowline."),
        ("user", "Thanks"),
    ]
    assert found.blocks[1].heading_path == ("Which knot?",)
    assert found.metadata["started_at"] == "2026-03-01T01:00:00+00:00"
    assert detect(data) == "jsonl"


def test_a_conversation_a_line_is_read_and_each_stands_alone() -> None:
    data = jsonl(
        {"messages": [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "A"}]},
        {"messages": [{"role": "assistant", "content": "B"}]},
        {"role": "assistant", "content": "C"},
    )
    found = document("jsonl", data)
    assert [block.heading_path for block in found.blocks] == [(), ("a?",), (), ()]
    assert lines(found) == [1, 1, 2, 3]
    assert detect(data) == "jsonl"


def test_names_of_fields_can_be_others() -> None:
    fields = Fields(
        role=("from", "author"),
        content=("value",),
        time=("at",),
        messages=("conversations",),
        id="key",
        assistant=("gpt",),
    )
    data = jsonl(
        {"conversations": [{"from": "human", "value": "a?"}, {"from": "gpt", "value": "A"}]},
        {"author": "human", "value": "b?", "at": 1_767_225_600_000, "key": 7},
        {"author": "human", "value": "b or c?", "key": 7},
        {"role": "user", "content": "NO"},
    )
    found = document("jsonl", data, fields=fields)
    assert said(found) == [("user", "a?"), ("assistant", "A"), ("user", "b or c?")]
    assert found.metadata["skipped_records"] == {"(no type)": 1}


@pytest.mark.parametrize(
    ("time", "year"),
    [
        ("2026-01-01", 2026),
        (1_767_225_600, 2026),
        (1_767_225_600_000, 2026),
        (1_767_225_600.5, 2026),
        ("yesterday", None),
        (True, None),
        (10**30, None),
        (None, None),
        ({}, None),
    ],
)
def test_times_are_taken_as_programs_write_them(time: object, year: int | None) -> None:
    (block,) = document("jsonl", jsonl({"role": "user", "content": "a", "ts": time})).blocks
    assert (block.said_at.year if block.said_at else None) == year


def test_lines_that_hold_no_message_are_counted() -> None:
    found = document("jsonl", jsonl({"type": "event"}, {"x": 1}, b"nonsense", b"[]", b""))
    assert found.metadata["skipped_records"] == {"(no type)": 1, "(not JSON)": 2, "event": 1}


def test_other_json_lines_are_not_taken_for_chats() -> None:
    assert detect(jsonl({"name": "a", "value": 1})) is None
    assert detect(jsonl({"role": "admin", "name": "ana"})) is None
    assert detect(b"role,content\nuser,hello\n") is None
    long = jsonl({"role": "user", "content": "x" * 10_000})
    assert detect(long[:8192]) == "jsonl"
