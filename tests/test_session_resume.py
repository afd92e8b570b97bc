"""Going on in a log where reading stopped: in pieces as at once, and cheap."""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.chunking import chunk
from lancebrain.readers import conversation
from lancebrain.readers.session import Appended, SessionOptions, read_stream, resume
from lancebrain.types import Chunk, Document
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
    lines,
    said,
    text,
)

OPTIONS = SessionOptions(mask_secrets=False)
PATH = "logs/a.jsonl"


def go_on(kind: str, data: bytes, state: str | None, **options: Any) -> Appended | None:
    assert state is not None
    return resume(PATH, kind, io.BytesIO(data), state, replace(OPTIONS, **options))


def joined(before: Document, appended: Appended) -> Document:
    """What the index holds after an append: the rows before, with the lines that are theirs."""
    after = appended.document
    blocks = list(before.blocks)
    if appended.lines_before:
        blocks[-1] = replace(
            blocks[-1], line_count=(blocks[-1].line_count or 0) + appended.lines_before
        )
    place = len(before.text)
    moved = [replace(b, start=b.start + place, end=b.end + place) for b in after.blocks]
    return replace(after, text=before.text + after.text, blocks=(*blocks, *moved))


def read_in_pieces(kind: str, data: bytes, cuts: list[int], **options: Any) -> Document:
    """The document after a look at each of the cuts and at the end."""
    found = document(kind, b"", PATH, **options)
    for cut in [*sorted(cuts), len(data)]:
        piece = data[:cut]
        appended = go_on(kind, piece, found.reader_state, **options)
        if appended is None:
            found = document(kind, piece, PATH, **options)
        else:
            found = joined(found, appended)
    return found


def assert_equal(pieces: Document, whole: Document) -> None:
    assert pieces.blocks == whole.blocks
    assert replace(pieces, reader_state=None) == replace(whole, reader_state=None)
    # States may remember in another order; what they carry is the same.
    state, other = json.loads(pieces.reader_state or ""), json.loads(whole.reader_state or "")
    assert state["mark"] == other["mark"]


# --- in pieces as at once ---------------------------------------------------------------------

words = st.sampled_from(["reef", "reef early", "帆を縮める", "go 👍", "a\nb", "x" * 300])


ROWS = ["user", "answer", "tool", "side", "again", "changed", "title", "odd", "blank", "torn"]


@st.composite
def claude_logs(draw: st.DrawFn) -> bytes:
    """Logs with everything that can change what was read before."""
    log = Claude()
    rows: list[Record | bytes] = []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(ROWS))
        said_now = draw(words)
        message = draw(st.sampled_from(["m1", "m2"]))
        if kind == "user":
            rows.append(log.user(said_now))
        elif kind == "answer":
            rows.append(log.assistant(said_now, id=message))
        elif kind == "tool":
            rows.append(log.result([text(said_now)]))
        elif kind == "side":
            rows.append(log.assistant(said_now, isSidechain=True))
        elif kind == "again" and rows:
            rows.append(draw(st.sampled_from(rows)))
        elif kind == "changed" and rows and isinstance(row := draw(st.sampled_from(rows)), dict):
            rows.append(log.user(said_now, uuid=row.get("uuid", "u")))
        elif kind == "title":
            rows.append({"type": "ai-title", "aiTitle": said_now, "sessionId": "s"})
        elif kind == "odd":
            rows.append({"type": "novel", "text": said_now})
        elif kind == "blank":
            rows.append(b"")
        else:
            rows.append(b'{"type":"user","message":{"content":"torn')
    data = jsonl(*rows)
    return data.removesuffix(b"\n") if draw(st.booleans()) else data


@settings(max_examples=250, deadline=None)
@given(claude_logs(), st.lists(st.integers(0, 3000), max_size=5), st.booleans())
def test_a_log_of_claude_code_read_in_pieces_is_as_read_at_once(
    data: bytes, cuts: list[int], subagents: bool
) -> None:
    whole = document("claude", data, PATH, subagents=subagents)
    assert_equal(read_in_pieces("claude", data, cuts, subagents=subagents), whole)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.lists(st.integers(0, 2000), max_size=5))
def test_a_log_of_codex_read_in_pieces_is_as_read_at_once(
    data: st.DataObject, cuts: list[int]
) -> None:
    rows = data.draw(
        st.lists(
            st.one_of(
                st.just(codex_meta()),
                words.map(lambda w: codex_said("user", w, second=1)),
                words.map(lambda w: codex_said("assistant", w, second=2)),
                words.map(lambda w: codex_event("user_message", message=w)),
                words.map(lambda w: codex_event("agent_message", message=w)),
                words.map(lambda w: codex_event("thread_name_updated", thread_name=w)),
                words.map(lambda w: codex("turn_context", {"model": w})),
                words.map(lambda w: codex("novel", {"text": w})),
            ),
            max_size=8,
        )
    )
    log = jsonl(*rows)
    assert_equal(read_in_pieces("codex", log, cuts), document("codex", log, PATH))


@settings(max_examples=80, deadline=None)
@given(st.data(), st.lists(st.integers(0, 1500), max_size=5))
def test_a_log_of_gemini_read_in_pieces_is_as_read_at_once(
    data: st.DataObject, cuts: list[int]
) -> None:
    names = st.sampled_from(["g1", "g2", "g3"])
    kinds = st.sampled_from(["user", "gemini", "info"])
    rows = data.draw(st.lists(st.builds(gemini_said, kinds, words, names), max_size=6))
    log = jsonl(gemini_head(), *rows, {"$set": {"summary": "done", "messages": rows[:2]}})
    assert_equal(read_in_pieces("gemini", log, cuts), document("gemini", log, PATH))


@settings(max_examples=80, deadline=None)
@given(st.data(), st.lists(st.integers(0, 1500), max_size=5))
def test_a_chat_export_read_in_pieces_is_as_read_at_once(
    data: st.DataObject, cuts: list[int]
) -> None:
    roles = st.sampled_from(["user", "assistant", "system"])
    message = st.builds(lambda role, w: {"role": role, "content": w}, roles, words)
    conversations = st.lists(message, max_size=3).map(lambda m: {"messages": m})
    log = jsonl(*data.draw(st.lists(st.one_of(message, conversations), max_size=6)))
    assert_equal(read_in_pieces("jsonl", log, cuts), document("jsonl", log, PATH))


def test_every_cut_also_inside_a_character_ends_the_same() -> None:
    log = Claude()
    data = jsonl(
        log.user("日本語の質問"), log.assistant("答え 👍"), log.result("out"), log.user("次")
    )
    whole = document("claude", data, PATH)
    for cut in range(0, len(data), 3):
        assert_equal(read_in_pieces("claude", data, [cut]), whole)


# --- a last line that is half there -----------------------------------------------------------


def test_a_half_written_last_line_waits_and_is_found_once_it_is_whole() -> None:
    log = Claude()
    first, second = jsonl(log.user("koi")), jsonl(log.assistant("a carp"))
    found = document("claude", first + second[:-30], PATH)
    assert said(found) == [("user", "koi")]
    assert "skipped_records" not in found.metadata
    appended = go_on("claude", first + second, found.reader_state)
    assert appended is not None
    assert said(appended.document) == [("assistant", "a carp")]
    assert appended.document.blocks[0].heading_path == ("koi",)


def test_a_whole_last_line_without_its_end_is_taken_once() -> None:
    log = Claude()
    first, second = jsonl(log.user("koi")), jsonl(log.assistant("a carp"))
    found = document("claude", first + second.rstrip(b"\n"), PATH)
    assert said(found) == [("user", "koi"), ("assistant", "a carp")]
    appended = go_on("claude", first + second, found.reader_state)
    assert appended is not None
    assert said(appended.document) == []
    third = jsonl(log.user("thanks"))
    appended = go_on("claude", first + second + third, appended.document.reader_state)
    assert appended is not None
    assert said(appended.document) == [("user", "thanks")]
    assert appended.lines_before == 0


def test_a_last_line_that_goes_on_after_all_means_reading_anew() -> None:
    log = Claude()
    data = jsonl(log.user("koi")).rstrip(b"\n")
    found = document("claude", data, PATH)
    assert go_on("claude", data + b" trailing\n", found.reader_state) is None


# --- what an append tells ---------------------------------------------------------------------


def test_an_append_gives_the_new_turns_with_their_lines_and_the_whole_logs_title() -> None:
    log = Claude()
    data = jsonl(log.user("Which anchor?"), log.assistant("The plough."), log.result("NO"))
    found = document("claude", data, PATH)
    more = jsonl(
        log.result("NO"),
        log.user("And the chain?"),
        {"type": "custom-title", "customTitle": "Anchors"},
        log.assistant("Fifty metres.", id="m9"),
        {"type": "novel"},
    )
    appended = go_on("claude", data + more, found.reader_state)
    assert appended is not None
    assert said(appended.document) == [("user", "And the chain?"), ("assistant", "Fifty metres.")]
    assert appended.lines_before == 1
    assert lines(joined(found, appended)) == [1, 2, 5, 7]
    assert appended.document.title == "Anchors"
    assert appended.document.metadata["skipped_records"] == {"novel": 1}
    assert appended.document.metadata["started_at"] == found.metadata["started_at"]


def test_nothing_appended_is_nothing_new() -> None:
    data = jsonl(Claude().user("a"))
    found = document("claude", data, PATH)
    appended = go_on("claude", data, found.reader_state)
    assert appended is not None
    assert (appended.document.text, appended.lines_before) == ("", 0)
    assert appended.document.reader_state == found.reader_state


def test_lines_before_the_first_turn_belong_to_it_also_when_it_comes_later() -> None:
    data = jsonl({"type": "mode", "mode": "normal"}, {"type": "mode", "mode": "plan"})
    found = document("claude", data, PATH)
    appended = go_on("claude", data + jsonl(Claude().user("a")), found.reader_state)
    assert appended is not None
    assert (appended.document.blocks[0].line_count, appended.lines_before) == (3, 0)


def test_the_chunks_of_an_append_follow_those_before() -> None:
    log = Claude()
    first = [log.user("long " * 900), log.assistant("Short.")]
    second = [log.result("x"), log.assistant("words " * 900, id="m2"), log.user("ok")]
    before = document("claude", jsonl(*first), PATH)
    appended = go_on("claude", jsonl(*first, *second), before.reader_state)
    assert appended is not None
    chunks = chunk(before) + chunk(appended.document)
    last = len(chunk(before)) - 1
    chunks[last] = replace(chunks[last], line_count=chunks[last].line_count + appended.lines_before)
    assert chunks == chunk(document("claude", jsonl(*first, *second), PATH))


def test_copied_history_gives_equal_chunks_in_every_log_that_holds_it() -> None:
    log = Claude()
    history = [log.user("Which anchor?"), log.assistant("The plough, or " + "so " * 900)]
    fork = [record | {"sessionId": "other", "cwd": "/elsewhere"} for record in history]

    def hashes(chunks: list[Chunk]) -> list[str]:
        return [item.chunk_hash for item in chunks]

    one = chunk(document("claude", jsonl(*history, log.user("on"))))
    two = chunk(document("claude", jsonl({"type": "mode"}, *fork, log.user("elsewhere"))))
    assert hashes(one)[:-1] == hashes(two)[:-1]
    assert len(one) > 3


# --- when a log must be read anew -------------------------------------------------------------


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    log = Claude()
    path.write_bytes(jsonl(*[log.user(f"question {n} " + "x" * 500) for n in range(400)]))
    return path


def state_of(path: Path) -> str:
    with path.open("rb") as stream:
        found = read_stream(PATH, "claude", stream, OPTIONS)
    assert isinstance(found, Document)
    assert found.reader_state is not None
    return found.reader_state


def resumed(path: Path, state: str, options: SessionOptions = OPTIONS) -> Appended | None:
    with path.open("rb") as stream:
        return resume(PATH, "claude", stream, state, options)


def test_a_log_that_grew_goes_on(log_file: Path) -> None:
    state = state_of(log_file)
    with log_file.open("ab") as file:
        file.write(jsonl(Claude().user("one more", uuid="new")))
    appended = resumed(log_file, state)
    assert appended is not None
    assert said(appended.document) == [("user", "one more")]


def test_a_log_that_shrank_is_read_anew(log_file: Path) -> None:
    state = state_of(log_file)
    os.truncate(log_file, 100_000)
    assert resumed(log_file, state) is None


@pytest.mark.parametrize("place", [100, -100])
def test_a_log_rewritten_in_place_is_read_anew(log_file: Path, place: int) -> None:
    state = state_of(log_file)
    data = bytearray(log_file.read_bytes())
    data[place] ^= 1
    with log_file.open("r+b") as file:
        file.write(data)
    assert resumed(log_file, state) is None


def test_a_log_put_in_the_place_of_another_is_read_anew(log_file: Path) -> None:
    state = state_of(log_file)
    copy = log_file.with_suffix(".tmp")
    copy.write_bytes(log_file.read_bytes())
    copy.replace(log_file)
    assert resumed(log_file, state) is None


def test_other_options_mean_reading_anew(log_file: Path) -> None:
    state = state_of(log_file)
    assert resumed(log_file, state, SessionOptions(mask_secrets=True)) is None
    assert resumed(log_file, state, replace(OPTIONS, subagents=True)) is None
    assert resumed(log_file, state, SessionOptions(mask_secrets=False)) is not None


def test_an_earlier_turn_that_changes_means_reading_anew() -> None:
    log = Claude()
    question, answer = log.user("crab?"), log.assistant("A par", id="m1")
    data = jsonl(question, answer)
    state = document("claude", data, PATH).reader_state
    for changing in (
        log.user("lobster?", uuid=question["uuid"]),
        log.assistant("A partial answer", id="m1"),
        log.assistant("A", id="m1"),
    ):
        assert go_on("claude", data + jsonl(changing), state) is None
    for repeating in (question, answer, log.assistant("Another block", id="m1")):
        appended = go_on("claude", data + jsonl(repeating), state)
        assert appended is not None
        assert ("user", "crab?") not in said(appended.document)


def test_a_message_after_its_copy_for_the_screen_means_reading_anew() -> None:
    data = jsonl(codex_meta(), codex_event("user_message", message="Oil?"))
    state = document("codex", data, PATH).reader_state
    assert go_on("codex", data + jsonl(codex_said("user", "Oil?")), state) is None
    appended = go_on("codex", data + jsonl(codex_said("assistant", "Yes.")), state)
    assert appended is not None
    assert said(appended.document) == [("assistant", "Yes.")]


def test_a_log_that_remembers_too_much_is_always_read_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "MAX_REMEMBERED", 2)
    log = Claude()
    assert document("claude", jsonl(log.user("a"), log.user("b"))).reader_state is not None
    assert (
        document("claude", jsonl(log.user("c"), log.user("d"), log.user("e"))).reader_state is None
    )


# --- what it costs ----------------------------------------------------------------------------


class Counted(io.FileIO):
    """A file that counts the bytes read from it."""

    taken = 0

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self.taken += count
        return count


def test_one_turn_appended_to_a_long_log_is_read_alone(log_file: Path) -> None:
    log = Claude()
    with log_file.open("ab") as file:
        for number in range(40):
            file.write(jsonl(log.result("output " * 30_000, uuid=f"long-{number}")))
    state = state_of(log_file)
    assert len(state) < 20_000
    size = log_file.stat().st_size
    with log_file.open("ab") as file:
        file.write(jsonl(log.user("one more", uuid="new")))
    with Counted(log_file) as stream:
        appended = resume(PATH, "claude", stream, state, OPTIONS)  # type: ignore[arg-type]
    assert appended is not None
    assert len(appended.document.blocks) == 1
    assert stream.taken < 120_000 < size // 50
