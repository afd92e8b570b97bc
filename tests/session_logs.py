"""Session logs as literals, for tests: records as Claude Code, Codex and Gemini CLI write them."""

from __future__ import annotations

import json
import sys
from itertools import count
from typing import Any

from lancebrain.readers.session import SessionOptions, read
from lancebrain.types import Document

Record = dict[str, Any]
SESSION = "7b0c2f5e-0000-4a2b-9c3d-00000000abcd"


def jsonl(*records: Record | bytes) -> bytes:
    """Records as the lines of a log; bytes are a line as it is."""
    return b"".join(
        (record if isinstance(record, bytes) else line(record)) + b"\n" for record in records
    )


def line(record: Any) -> bytes:
    """One record as JavaScript and Rust write it: no spaces, characters unescaped."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def document(kind: str, data: bytes, path: str = "logs/a.jsonl", **options: Any) -> Document:
    """The document of a log; secrets are left as they are unless asked."""
    result = read(path, kind, data, SessionOptions(**{"mask_secrets": False, **options}))
    assert isinstance(result, Document), result
    return result


def said(document: Document) -> list[tuple[str, str]]:
    """(role, text) of each turn."""
    return [
        (block.role or "", document.text[block.start : block.end].strip())
        for block in document.blocks
    ]


def lines(document: Document) -> list[int]:
    """The line of each turn, as the blocks before tell it."""
    starts, start = [], 1
    for block in document.blocks:
        starts.append(start)
        start += block.line_count or 0
    return starts


class Claude:
    """Makes records of one session of Claude Code, with ids and times that go on."""

    def __init__(self, **common: Any) -> None:
        self._number = count(1)
        self._common = {
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/ana/ship",
            "sessionId": SESSION,
            "version": "2.1.200",
            "gitBranch": "main",
        } | common

    def record(self, kind: str, **more: Any) -> Record:
        number = next(self._number)
        return (
            {"parentUuid": f"u-{number - 1:04}" if number > 1 else None}
            | self._common
            | {"type": kind}
            | more
            | {"uuid": more.get("uuid", f"u-{number:04}")}
            | {"timestamp": more.get("timestamp", f"2026-03-01T10:{number:02}:00.000Z")}
        )

    def user(self, content: Any, **more: Any) -> Record:
        return self.record("user", message={"role": "user", "content": content}, **more)

    def assistant(self, *blocks: Any, id: str = "msg_1", **more: Any) -> Record:
        content = [text(block) if isinstance(block, str) else block for block in blocks]
        message = {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": content,
            "usage": {"output_tokens": 1},
        }
        return self.record("assistant", message=message, **more)

    def result(self, content: Any, **more: Any) -> Record:
        """A tool's result."""
        block = {"tool_use_id": "toolu_1", "type": "tool_result", "content": content}
        return self.user([block], toolUseResult={"stdout": str(content)}, **more)

    def queued(self, prompt: Any, **attachment: Any) -> Record:
        """A prompt that was typed while the agent worked."""
        command = {"type": "queued_command", "commandMode": "prompt", "prompt": prompt} | attachment
        return self.record("attachment", attachment=command)


def text(words: str, kind: str = "text") -> Record:
    """A text block."""
    return {"type": kind, "text": words}


def codex(kind: str, payload: Record, second: int = 0, **more: Any) -> Record:
    """A line of a Codex rollout."""
    return {"timestamp": f"2026-03-01T10:00:{second:02}.000Z", **more, "type": kind} | {
        "payload": payload
    }


def codex_meta(**more: Any) -> Record:
    """The first line of a Codex rollout."""
    meta = {
        "id": SESSION,
        "cwd": "/home/ana/ship",
        "cli_version": "0.146.0",
        "source": "cli",
        "base_instructions": {"text": "You are an agent."},
        "git": {"branch": "main"},
    }
    return codex("session_meta", meta | more)


def codex_said(role: str, *texts: str, second: int = 0, **more: Any) -> Record:
    """A message, a block for each text."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": words} for words in texts]
    return codex("response_item", {"type": "message", "role": role, "content": content}, second) | (
        more
    )


def codex_event(kind: str, second: int = 0, **fields: Any) -> Record:
    """A copy for the screen."""
    return codex("event_msg", {"type": kind} | fields, second)


def gemini_head(**more: Any) -> Record:
    """The first line of a Gemini CLI session, or the top of one that is one value."""
    return {
        "sessionId": SESSION,
        "projectHash": "0b7d",
        "startTime": "2026-03-01T10:00:00.000Z",
        "lastUpdated": "2026-03-01T10:00:00.000Z",
    } | more


def gemini_said(kind: str, content: Any, id: str, **more: Any) -> Record:
    """A message of a Gemini CLI session."""
    return {"id": id, "timestamp": "2026-03-01T10:00:05.000Z", "type": kind} | (
        {"content": content} | more
    )


def compressed(data: bytes) -> bytes:
    """A log as its program archives it."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.compress(data)
    import zstandard

    return zstandard.compress(data)
