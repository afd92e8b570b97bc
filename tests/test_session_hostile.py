"""Logs as no program should write them: nothing raises, and what is sound around it is found."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.readers import session
from lancebrain.readers.conversation import MAX_SKIPPED_KINDS
from lancebrain.readers.session import detect, is_subagent_log, read
from lancebrain.types import Document, Problem
from tests.session_logs import (
    Claude,
    Record,
    codex,
    codex_event,
    codex_meta,
    codex_said,
    document,
    gemini_head,
    gemini_said,
    jsonl,
    line,
    said,
)
from tests.test_sync_logs import PATH, Logs

KINDS = ("claude", "codex", "gemini", "jsonl")
LOG = Claude()
RECORDS: dict[str, list[Record]] = {
    "claude": [
        LOG.user("a"),
        LOG.user([{"type": "text", "text": "a"}, {"type": "image", "source": {"data": "x"}}]),
        LOG.assistant("b", {"type": "tool_use", "id": "t", "name": "n", "input": {"x": [1]}}),
        LOG.result([{"type": "text", "text": "NO"}]),
        LOG.queued("c", origin={"kind": "human"}),
        {"type": "custom-title", "customTitle": "T", "sessionId": "s"},
        {"type": "summary", "summary": "T", "leafUuid": "u"},
        LOG.user("s", isSidechain=True, isMeta=True, origin={"kind": "x"}),
    ],
    "codex": [
        codex_meta(source={"subagent": {"other": "x"}}),
        codex_said("user", "a", "b"),
        codex_said("assistant", "c"),
        codex_event("user_message", message="a"),
        codex_event("thread_name_updated", thread_name="T"),
        codex("turn_context", {"model": "m", "cwd": "/x"}),
        {"id": "1", "timestamp": "t", "instructions": None, "git": {"branch": "b"}},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "z"}]},
        {"record_type": "state"},
    ],
    "gemini": [
        gemini_head(directories=["/x"], kind="main", summary="T"),
        gemini_said("user", [{"text": "a"}], "1", displayContent="a"),
        gemini_said("gemini", "b", "2", model="m", thoughts=[], toolCalls=[{"result": "NO"}]),
        {"$set": {"messages": [gemini_said("user", "c", "3")], "meta": {"model": "x"}}},
        {"$rewindTo": "1"},
    ],
    "jsonl": [
        {"role": "user", "content": "a", "timestamp": 1_700_000_000},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "b"}]}]},
    ],
}

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "text", "user", "user"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to every value in a record."""
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, member in inside:
        yield (*path, key)
        yield from places(member, (*path, key))


def put(record: Record, path: tuple[Any, ...], value: Any) -> Record:
    changed = copy.deepcopy(record)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


SOUND: dict[str, Callable[[str], Record]] = {
    "claude": lambda words: Claude().user(words, uuid=words),
    "codex": lambda words: codex_said("user", words),
    "gemini": lambda words: gemini_said("user", words, words),
    "jsonl": lambda words: {"role": "user", "content": words},
}
HEADS = {"claude": [], "codex": [codex_meta()], "gemini": [gemini_head()], "jsonl": []}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_value_of_any_type_at_any_place_harms_only_its_own_record(
    kind: str, data: st.DataObject
) -> None:
    record = data.draw(st.sampled_from(RECORDS[kind]))
    path = data.draw(st.sampled_from(list(places(record))))
    odd = put(record, path, data.draw(values))
    log = jsonl(*HEADS[kind], SOUND[kind]("before"), odd, SOUND[kind]("after"))
    for subagents in (False, True):
        found = document(kind, log, subagents=subagents)
        texts = [text for _, text in said(found)]
        is_subagents = bool(found.metadata.get("subagent"))
        assert texts[:1] == ["before"]
        if not is_subagents or subagents:
            assert texts[-1] == "after"
        json.dumps(dict(found.metadata)).encode()
        found.text.encode()
    alone = line(odd)
    detect(alone)
    is_subagent_log("x.jsonl", alone)
    for other in KINDS:
        assert isinstance(read("x.jsonl", other, alone), Document)


ODD_LINES = {
    "deep": b"[" * 1000 + b"]" * 1000,
    "deep object": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "deep, unended": b'{"type":"user","message":' + b"[" * 200_000,
    "deep content": b'{"type":"user","message":{"content":' + b"[" * 1100 + b"]" * 1100 + b"}}",
    "no object": b'"text"',
    "number": b"1e999",
    "not a number": b'{"type":NaN}',
    "huge number": b'{"type":"user","timestamp":' + b"9" * 5000 + b"}",
    "nul": b"\0\0\0",
    "nul in text": b'{"type":"x","a":"\\u0000"}',
    "not UTF-8": b'{"type":"\xff\xfe"}',
    "doubled key": b'{"type":"user","type":"system","message":1}',
    "white space": b" \t ",
    "cut": b'{"type":"user","message":{"role":"user","content":"cut',
    "two on one line": b'{"type":"user"}{"type":"user"}',
    "comma": b'{"type":"user"},',
    "UTF-16": '{"type":"user"}'.encode("utf-16"),
    "HTML": b"<!DOCTYPE html><html>",
    "null": b"null",
    "empty object": b"{}",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ODD_LINES)
def test_a_line_that_is_no_record_is_passed_by(kind: str, name: str) -> None:
    log = [*HEADS[kind], SOUND[kind]("before"), ODD_LINES[name], SOUND[kind]("after")]
    assert said(document(kind, jsonl(*log))) == [("user", "before"), ("user", "after")]
    assert isinstance(read("x.jsonl", kind, ODD_LINES[name]), Document)
    assert isinstance(read("x.jsonl", kind, ODD_LINES[name] + b"\n"), Document)


@pytest.mark.parametrize("kind", KINDS)
def test_line_ends_and_byte_order_marks_of_any_program(kind: str) -> None:
    rows = [*HEADS[kind], SOUND[kind]("before"), SOUND[kind]("after")]
    for log in (
        b"\xef\xbb\xbf" + jsonl(*rows),
        jsonl(*rows).replace(b"\n", b"\r\n"),
        b"\n\n" + jsonl(*rows).replace(b"\n", b"\n\n"),
        jsonl(*rows).rstrip(b"\n"),
    ):
        assert said(document(kind, log)) == [("user", "before"), ("user", "after")]


def test_records_of_other_programs_in_a_log_are_passed_by() -> None:
    rows = [record for kind in KINDS for record in [*HEADS[kind], SOUND[kind](kind)]]
    for kind in KINDS:
        log = jsonl(*HEADS[kind], SOUND[kind]("first"), *rows, SOUND[kind]("last"))
        texts = [text for _, text in said(document(kind, log))]
        assert texts[0] == "first"
        assert texts[-1] == "last"
        assert kind in texts


def test_types_that_nobody_knows_are_counted_up_to_a_number() -> None:
    rows = [{"type": f"odd {number} " + "x" * 200} for number in range(500)]
    rows.append({"type": "odd 3 " + "x" * 200})
    skipped: Any = document("claude", jsonl(LOG.user("a"), *rows)).metadata["skipped_records"]
    assert len(skipped) == MAX_SKIPPED_KINDS + 1
    assert sum(skipped.values()) == 501
    assert skipped["(others)"] == 500 - MAX_SKIPPED_KINDS
    assert max(map(len, skipped)) < 100


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-10:00", -(10**13), 10**300, "x" * 10_000]
)
def test_a_time_that_cannot_be_is_none(time: object) -> None:
    found = document("claude", jsonl(LOG.user("a", timestamp=time)))
    assert [block.said_at for block in found.blocks] == [None]


@pytest.mark.parametrize("kind", KINDS)
def test_speech_in_a_line_of_many_megabytes_is_found(kind: str) -> None:
    filler = {"filler": ["x" * 1000] * 5000}
    odd = SOUND[kind]("within") | filler
    front = filler | SOUND[kind]("in front")
    log = jsonl(*HEADS[kind], SOUND[kind]("before"), odd, front, SOUND[kind]("after"))
    texts = [text for _, text in said(document(kind, log))]
    assert texts == ["before", "within", "in front", "after"]
    half = log[: log.index(b'"filler"') + 2_000_000]
    assert [text for _, text in said(document(kind, half))] == ["before"]


def test_a_said_text_of_many_megabytes_is_kept_whole() -> None:
    words = "a plank, a nail; " * 400_000
    ((_, text),) = said(document("claude", jsonl(LOG.user(words))))
    assert text == words.strip()


# While it is read


@pytest.mark.parametrize("what", ["replaced", "cut", "grown", "emptied", "gone"])
def test_a_log_that_changes_while_it_is_read_is_right_after_the_next_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    logs, log = Logs(tmp_path), Claude()
    logs.append(jsonl(*[log.user(f"question {n} " + "x" * 900) for n in range(200)]))
    read_stream = session.read_stream

    def change() -> None:
        if what == "replaced":
            fresh = logs.file.with_suffix(".new")
            fresh.write_bytes(jsonl(Claude(sessionId="new").user("Another session")))
            fresh.replace(logs.file)
        elif what == "cut":
            os.truncate(logs.file, 50_000)
        elif what == "grown":
            logs.append(jsonl(log.user("one more")))
        elif what == "emptied":
            logs.file.write_bytes(b"")
        else:
            logs.file.unlink()

    def change_and_read(*arguments: Any) -> Document | Problem:
        stream = arguments[2]
        stream.read(1000)
        change()
        return read_stream(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(session, "read_stream", change_and_read)
        logs.sync()
    logs.synced(confirm_removals=True)
    counts = {"replaced": 1, "grown": 201, "emptied": 0, "gone": 0}
    if what in counts:
        assert len(logs.turns(PATH)) == counts[what]
