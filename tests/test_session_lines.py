"""Lines of logs: what is skipped unparsed is surely silent, and long lines cost no memory."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.readers import claude, codex, gemini, loglines
from lancebrain.readers.conversation import Conversation
from lancebrain.readers.logformat import LogFormat
from lancebrain.readers.loglines import LogLines, Verdict
from lancebrain.readers.secrets import no_mask
from lancebrain.readers.session import FORMATS, read_stream
from lancebrain.readers.sieve import SHORT_BYTES, Sieve
from lancebrain.types import Document
from tests.session_logs import (
    Claude,
    Record,
    codex_event,
    codex_meta,
    codex_said,
    document,
    gemini_head,
    gemini_said,
    jsonl,
    line,
    said,
    text,
)

MEGABYTE = 1_000_000
SPOKEN = frozenset({"message.content", "message.content.text", "text"})
OPEN_PATHS = {"", "message", "message.content"}

# --- the sieve --------------------------------------------------------------------------------

strings = st.one_of(
    st.text(max_size=8),
    st.sampled_from(['"', "\\", '\\"type\\":"text"', "x" * 2000, '"\\' * 700, "é\n" * 600]),
)
names = st.sampled_from(["message", "content", "text", "other", 'a"b', "x\\", "type"])
values = st.recursive(
    st.one_of(strings, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=14,
)
cuts = st.lists(st.integers(1, 60), max_size=40)


def sift(data: bytes, sizes: list[int]) -> bytes:
    sieve, place = Sieve(SPOKEN), 0
    for size in [*sizes, len(data)]:
        sieve.feed(data[place : place + size])
        place += size
    return sieve.result()


def agrees(kept: Any, value: Any, path: str = "") -> bool:
    """Whether ``kept`` is ``value`` with what is not spoken left out, and nothing else."""
    if isinstance(value, dict | list) and path not in OPEN_PATHS:
        return kept is None
    if isinstance(value, dict):
        return list(kept) == list(value) and all(
            agrees(kept[name], value[name], f"{path}.{name}".lstrip(".")) for name in value
        )
    if isinstance(value, list):
        return len(kept) == len(value) and all(map(agrees, kept, value, [path] * len(value)))
    long = isinstance(value, str) and len(line(value)) > SHORT_BYTES
    return bool(kept == ("" if long and path not in SPOKEN else value))


@settings(max_examples=300, deadline=None)
@given(values, cuts, st.sampled_from([None, 1]))
def test_a_sieve_keeps_what_is_spoken_wherever_the_pieces_end(
    value: Any, sizes: list[int], indent: int | None
) -> None:
    data = json.dumps(value, ensure_ascii=False, indent=indent).encode()
    kept = sift(data, sizes)
    assert agrees(json.loads(kept), value)
    assert kept.count(b"\n") == data.count(b"\n")


def test_a_sieve_keeps_short_values_beside_the_speech_and_drops_long_ones() -> None:
    value = {"type": "user", "long": "x" * SHORT_BYTES, "message": {"id": 7, "content": "y" * 9999}}
    assert json.loads(sift(line(value), [])) == value | {"long": ""}


@pytest.mark.parametrize(
    "broken", [b'{"a": [1, 2', b'{"message": {"content": "x', b'{"a":"\\', b"]"]
)
def test_a_sieve_makes_no_json_of_what_is_none(broken: bytes) -> None:
    assert loglines.parse(sift(broken, [3])) is None


# --- what is skipped is silent ----------------------------------------------------------------


def turns(log: LogFormat, data: bytes) -> list[tuple[str, str, int]]:
    talk = Conversation(no_mask)
    for number, record in LogLines(io.BytesIO(data), log.classify, log.spoken):
        talk.line = number
        if record is not None:
            log.take(record, talk)
    return [(turn.role, turn.text, turn.line) for turn, _ in talk.finish()]


tricky = st.sampled_from(
    [
        "plain",
        '"text"',
        '{"type":"text","text":"NO"}',
        '\\"text\\"',
        '"role":"user","content":[',
        '"type":"system"',
        'ends with "text',
        "\\",
        "line\nend",
    ]
)
blocks = st.one_of(
    tricky.map(text),
    tricky.map(lambda words: {"tool_use_id": "t", "type": "tool_result", "content": words}),
    tricky.map(lambda words: {"type": "tool_result", "content": [text(words)]}),
    tricky.map(lambda words: {"type": "tool_use", "name": "Write", "input": {"content": words}}),
    tricky.map(lambda words: {"type": "thinking", "thinking": words}),
)
contents = st.one_of(tricky, st.lists(blocks, max_size=3))
extras = st.dictionaries(
    st.sampled_from(["toolUseResult", "cwd", "slug", "isMeta", "requestId", "data"]),
    st.one_of(
        tricky, st.booleans(), st.lists(blocks, max_size=2), contents.map(lambda c: {"c": c})
    ),
    max_size=3,
)


@st.composite
def claude_lines(draw: st.DrawFn) -> bytes:
    """Records of Claude Code with their members in any order."""
    kind = draw(st.sampled_from(["user", "assistant", "system", "attachment", "progress", "odd"]))
    record: Record = {"type": kind, "uuid": draw(st.uuids()).hex, **draw(extras)}
    if kind == "attachment":
        name = draw(st.sampled_from(["queued_command", "file", "novel"]))
        prompt = draw(contents)
        record["attachment"] = {"type": name, "commandMode": "prompt", "prompt": prompt}
    else:
        message = {"role": kind, "id": "m", "content": draw(contents)}
        record["message"] = dict(draw(st.permutations(sorted(message.items()))))
    members = draw(st.permutations(sorted(record.items())))
    spaced = draw(st.booleans())
    return json.dumps(dict(members), separators=None if spaced else (",", ":")).encode()


@settings(max_examples=300, deadline=None)
@given(st.lists(claude_lines(), min_size=1, max_size=5), st.integers(20, 200))
def test_what_is_skipped_or_sieved_of_claude_code_says_nothing(
    rows: list[bytes], piece: int
) -> None:
    data = jsonl(*rows)
    everything = turns(replace(claude.FORMAT, classify=lambda head: Verdict.PARSE), data)
    assert turns(claude.FORMAT, data) == everything
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loglines, "PIECE_BYTES", piece)
        assert turns(claude.FORMAT, data) == everything


@st.composite
def codex_lines(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from(["response_item", "event_msg", "compacted", "turn_context", "odd"]))
    payload_kind = draw(
        st.sampled_from(["message", "function_call_output", "agent_message", "token_count", "odd"])
    )
    payload = {
        "type": payload_kind,
        "role": draw(st.sampled_from(["user", "assistant", "developer"])),
        "content": draw(st.lists(tricky.map(lambda words: text(words, "input_text")), max_size=3)),
        "output": draw(contents),
        "message": draw(tricky),
    }
    record = {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload}
    return json.dumps(record, separators=(",", ":")).encode()


@settings(max_examples=200, deadline=None)
@given(st.lists(codex_lines(), min_size=1, max_size=5), st.integers(20, 200))
def test_what_is_skipped_or_sieved_of_codex_says_nothing(rows: list[bytes], piece: int) -> None:
    data = jsonl(*rows)
    everything = turns(replace(codex.FORMAT, classify=lambda head: Verdict.PARSE), data)
    assert turns(codex.FORMAT, data) == everything
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loglines, "PIECE_BYTES", piece)
        assert turns(codex.FORMAT, data) == everything


def test_the_common_silent_records_are_skipped_unparsed() -> None:
    log = Claude()
    for record in (
        log.result("stdout"),
        log.assistant({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}}),
        log.assistant({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
    ):
        assert claude.FORMAT.classify(line(record)) is Verdict.SILENT_WITHOUT_TEXT
    for record in (
        log.record("system", subtype="turn_duration"),
        log.record("attachment", attachment={"type": "file", "content": "x"}),
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    ):
        assert claude.FORMAT.classify(line(record)) is Verdict.SILENT
    output = {"type": "function_call_output", "output": "x"}
    for record in (
        {"timestamp": "t", "type": "response_item", "payload": output},
        {"timestamp": "t", "ordinal": 4, "type": "response_item", "payload": output},
        codex_event("exec_command_end", aggregated_output="x"),
    ):
        assert codex.FORMAT.classify(line(record)) is Verdict.SILENT


# fmt: off
NAMES = [
    "type", "message", "content", "text", "role", "payload", "attachment", "prompt", "origin",
    "kind", "git", "source", "uuid", "id", "timestamp", "$set", "messages", "parts", "item",
    "model", "cwd", "isMeta", "aiTitle",
]
KINDS = [
    "user", "assistant", "attachment", "ai-title", "response_item", "event_msg", "session_meta",
    "turn_context", "gemini",
]
# fmt: on
anything = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(FORMATS)),
    st.lists(st.tuples(st.sampled_from(KINDS), anything), max_size=4),
)
def test_values_of_any_type_in_any_place_are_no_error(
    kind: str, rows: list[tuple[str, Any]]
) -> None:
    records = [{"type": name, "message": value, "payload": value} for name, value in rows]
    values = [line(value) for _, value in rows]
    document(kind, jsonl(*records, *values), subagents=True)


# --- long lines -------------------------------------------------------------------------------


class Stream(io.RawIOBase):
    """A seekable file that is made as it is read: parts are bytes, or (bytes, times)."""

    def __init__(self, *parts: bytes | tuple[bytes, int]) -> None:
        self._parts = [part if isinstance(part, tuple) else (part, 1) for part in parts]
        self._place = 0
        self.size = sum(len(data) * times for data, times in self._parts)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place = offset + (0, self._place, self.size)[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: Any) -> int:
        wanted = memoryview(buffer).cast("B")
        filled = 0
        for start, data, end in self._at():
            while filled < len(wanted) and self._place < end:
                inside = (self._place - start) % len(data)
                part = data[inside : inside + min(len(wanted) - filled, end - self._place)]
                wanted[filled : filled + len(part)] = part
                filled += len(part)
                self._place += len(part)
        return filled

    def _at(self) -> Iterator[tuple[int, bytes, int]]:
        start = 0
        for data, times in self._parts:
            end = start + len(data) * times
            if self._place < end:
                yield start, data, end
            start = end


def around(record: Record) -> tuple[bytes, bytes]:
    """The line of a record that says LONG somewhere, before and after that word."""
    before, _, after = line(record).partition(b"LONG")
    return before, after + b"\n"


CLAUDE = Claude()
OUTPUT = rb"    return self.get(\"key\", default)  # line\n" * 1000
BASE64 = b"iVBORw0KGgoAAAANSUhEUgAA" * 2000
ROWS = rb'{"n": 12, "row": ["a \" b", true]}, ' * 1000
IMAGE = {"type": "image", "source": {"type": "base64", "data": "LONG"}}
LONG_LINES: dict[str, tuple[str, Record, bytes, list[str]]] = {
    "output": ("claude", CLAUDE.result("LONG"), OUTPUT, []),
    "output in blocks": ("claude", CLAUDE.result([text("LONG")]), OUTPUT, []),
    "written file": (
        "claude",
        CLAUDE.assistant("Writing.", {"type": "tool_use", "input": {"content": "LONG"}}),
        OUTPUT,
        ["Writing."],
    ),
    "image before the words": (
        "claude",
        CLAUDE.user([IMAGE, text("see photo")]),
        BASE64,
        ["see photo"],
    ),
    "rows before the message": (
        "claude",
        {"type": "user", "toolUseResult": ["LONG"], "message": {"content": [text("after rows")]}},
        ROWS,
        ["after rows"],
    ),
    "attached file": (
        "claude",
        CLAUDE.record("attachment", attachment={"type": "file", "content": "LONG"}),
        OUTPUT,
        [],
    ),
    "codex output": (
        "codex",
        codex_said("assistant", "x")
        | {"payload": {"type": "function_call_output", "output": "LONG"}},
        OUTPUT,
        [],
    ),
    "codex image": (
        "codex",
        {
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": "data:image/png;base64,LONG"},
                    text("see photo", "input_text"),
                ],
            },
        },
        BASE64,
        ["see photo"],
    ),
    "unknown": ("claude", {"type": "novel", "payload": {"rows": ["LONG"]}}, ROWS, []),
    "gemini call": (
        "gemini",
        gemini_said("gemini", "Done.", "g1", toolCalls=[{"result": "LONG"}]),
        OUTPUT,
        ["Done."],
    ),
}


@pytest.mark.parametrize(
    ("kind", "record", "filling", "texts"), LONG_LINES.values(), ids=LONG_LINES
)
def test_a_line_of_many_megabytes_costs_no_memory(
    kind: str, record: Record, filling: bytes, texts: list[str]
) -> None:
    before, after = around(record)
    if filling is ROWS:
        after = b'"end"' + after.removeprefix(b'"')
        before = before.removesuffix(b'"')
    head = jsonl(
        {"claude": CLAUDE.user("start"), "codex": codex_meta(), "gemini": gemini_head()}[kind]
    )
    last = jsonl(
        {
            "claude": CLAUDE.user("end"),
            "codex": codex_said("user", "end"),
            "gemini": gemini_said("user", "end", "g9"),
        }[kind]
    )
    times = 16 * MEGABYTE // len(filling)
    stream = io.BufferedReader(Stream(head, before, (filling, times), after, last))
    tracemalloc.start()
    try:
        found = read_stream("logs/a.jsonl", kind, stream)  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(found, Document)
    assert [words for _, words in said(found) if words != "start"] == [*texts, "end"]
    assert "(not JSON)" not in str(found.metadata)
    assert peak < 6 * MEGABYTE


def test_a_long_session_as_one_value_costs_no_memory() -> None:
    messages = [
        gemini_said("user", "a", "g1"),
        gemini_said("gemini", "b", "g2", toolCalls=["LONG"]),
    ]
    before, _, after = (
        json.dumps(gemini_head(messages=messages), indent=2).encode().partition(b"LONG")
    )
    stream = io.BufferedReader(Stream(before, (OUTPUT, 300), after))
    tracemalloc.start()
    try:
        found = read_stream("logs/a.json", "gemini", stream)  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(found, Document)
    assert said(found) == [("user", "a"), ("assistant", "b")]
    assert peak < 6 * MEGABYTE


def test_a_long_line_that_speaks_is_kept_whole() -> None:
    words = ('a "quoted" word \\ and 帆 ' * 30_000).strip()
    log = Claude()
    found = document("claude", jsonl(log.user(words), log.assistant(words)))
    assert said(found) == [("user", words), ("assistant", words)]
    assert said(document("gemini", jsonl(gemini_head(), gemini_said("user", words, "g")))) == [
        ("user", words)
    ]


def test_a_stream_is_left_open() -> None:
    stream = io.BytesIO(jsonl(CLAUDE.user("a")))
    read_stream("logs/a.jsonl", "claude", stream)
    assert not stream.closed
    assert gemini.FORMAT.kind == "gemini"
