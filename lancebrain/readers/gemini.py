"""Session logs of Gemini CLI: ``tmp/<project>/chats/session-*`` below its config folder.

Older versions write a session as one JSON value over many lines, anew at every change:
``{"sessionId", "projectHash", …, "messages": [{"id", "timestamp", "type", "content"}, …]}``.
Since 0.40 it is JSONL: a first line without messages, a line for each message, again with the
same id when it changes, and lines that change the head, ``{"$set": {…}}``. ``$set`` and the head
may hold messages too. A rewind (``{"$rewindTo": id}``) takes nothing back here: it was said.

``user`` and ``gemini`` messages are kept, without thoughts, tool calls and notices. Where the
program put files into a prompt, ``displayContent`` is what was typed.
"""

from __future__ import annotations

import json
import re
from typing import Any, BinaryIO

from .conversation import Conversation
from .logformat import LogFormat, as_dict, as_list, as_text, texts_of
from .loglines import PIECE_BYTES, Record, Verdict, parse
from .sieve import Sieve

_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_SILENT_TYPES = frozenset({"info", "error", "warning"})
_INJECTED_STARTS = ("<session_context>", "<state_snapshot>")
_FILES_FOLLOW = "--- Content from referenced files ---"

_ONE_VALUE = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{][ \t]*\r?\n")
_HEAD_NAMES = re.compile(rb'"(?:projectHash|startTime|start_time)"\s*:')
_MESSAGES_START = re.compile(r'"(?:messages|history)"\s*:\s*\[')
_BETWEEN_MESSAGES = re.compile(r"[\s,]*")


def _looks_like(head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return False
    if _ONE_VALUE.match(head):
        is_session = b'"sessionId"' in head or b'"history"' in head
        return is_session and (b'"messages"' in head or bool(_HEAD_NAMES.search(head)))
    line = start.split(b"\n", 1)[0]
    return b'"sessionId"' in line and bool(_HEAD_NAMES.search(line))


def _is_subagent(path: str, head: bytes) -> bool:
    first = head if _ONE_VALUE.match(head) else head.split(b"\n", 1)[0]
    return bool(re.search(rb'"kind"\s*:\s*"subagent"', first.split(b'"messages"', 1)[0]))


def _take(record: Record, talk: Conversation) -> None:
    if isinstance(record.get("$set"), dict):
        _take_head(record["$set"], talk)
    elif "type" in record or "role" in record:
        _take_message(record, talk)
    elif "sessionId" in record or "messages" in record:
        _take_head(record, talk)
    elif "$rewindTo" not in record:
        talk.skipped("")


def _take_head(head: dict[str, Any], talk: Conversation) -> None:
    talk.fact("session", head.get("sessionId"), first=True)
    directory = next((item for item in as_list(head.get("directories"))), None)
    talk.fact("project", directory or head.get("projectHash"), first=True)
    talk.fact("model", as_dict(head.get("meta")).get("model"))
    talk.title("summary", head.get("summary"))
    if head.get("kind") == "subagent":
        talk.notes["subagent"] = True
        talk.silent = not talk.subagents
    for message in [*as_list(head.get("messages")), *as_list(head.get("history"))]:
        _take_message(as_dict(message), talk)


def _take_message(message: dict[str, Any], talk: Conversation) -> None:
    kind = as_text(message.get("type", message.get("role")))
    role = _ROLES.get(kind)
    if role is None:
        if kind not in _SILENT_TYPES:
            talk.skipped(kind)
        return
    talk.fact("model", message.get("model"))
    content = message.get("content") or message.get("parts")
    if role == "user":
        content = message.get("displayContent") or content
    blocks = texts_of([content] if isinstance(content, dict) else content, ("text", None))
    between_agents = bool(talk.notes.get("subagent"))
    talk.say(
        "assistant" if between_agents else role,
        _typed(blocks) if role == "user" else "".join(blocks),
        message.get("timestamp") or message.get("ts"),
        key=as_text(message.get("id")) or None,
        asks=role == "user",
        tags=("subagent",) if between_agents else (),
    )


def _typed(blocks: list[str]) -> str:
    """What a person typed: without the files that the program put behind it."""
    text = "".join(blocks).split(_FILES_FOLLOW, 1)[0]
    return "" if text.lstrip().startswith(_INJECTED_STARTS) else text


def _take_value(stream: BinaryIO, talk: Conversation) -> int:
    """A session as one value: each message with the line that it begins in."""
    sieve, line_count, ended = Sieve(FORMAT.spoken), 0, True
    while piece := stream.read(PIECE_BYTES):
        sieve.feed(piece)
        line_count += piece.count(b"\n")
        ended = piece.endswith(b"\n")
    # What the sieve keeps has its line ends where the file has them.
    kept = sieve.result().decode("utf-8", "replace")
    talk.line = 1
    if (whole := parse(kept.encode())) is None:
        if not kept.lstrip("\ufeff \t\r\n").startswith("["):  # a list is a history of prompts
            talk.skipped("(not JSON)")
        return line_count + (not ended)
    _take_head({**whole, "messages": None, "history": None}, talk)
    decoder, start = json.JSONDecoder(), _MESSAGES_START.search(kept)
    place, counted = start.end() if start else len(kept), 0
    messages = [*as_list(whole.get("messages")), *as_list(whole.get("history"))]
    for message in messages:
        place = _BETWEEN_MESSAGES.match(kept, place).end()  # type: ignore[union-attr]
        talk.line += kept.count("\n", counted, place)
        counted = place
        _take_message(as_dict(message), talk)
        _, place = decoder.raw_decode(kept, place)
    return line_count + (not ended)


_CONTENTS = [
    f"{lead}{content}{text}"
    for lead in ("", "messages.", "history.", "$set.messages.")
    for content in ("content", "displayContent", "parts")
    for text in ("", ".text")
]

FORMAT = LogFormat(
    kind="gemini",
    spoken=frozenset({*_CONTENTS, "meta.model", "directories", "$set.directories"}),
    looks_like=_looks_like,
    classify=lambda head: Verdict.PARSE,
    take=_take,
    is_subagent=_is_subagent,
    is_one_value=lambda head: bool(_ONE_VALUE.match(head)),
    take_value=_take_value,
)
