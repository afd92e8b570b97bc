"""Writes session logs of a given size that look like real ones, for measuring: mostly tools.

The shape follows what logs of coding agents are made of: about 3 % of the bytes is what people
and the model said; the rest is tool calls and outputs, thinking, snapshots and bookkeeping, with
an output of several megabytes on one line now and then. The same seed gives the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

MEGABYTE = 1_000_000
SPOKEN_SHARE = 0.03
LONG_OUTPUT_CHARS = 5_000_000

# fmt: off
_WORDS = [
    "the", "cache", "keeps", "every", "vector", "that", "a", "branch", "switch", "may", "need",
    "again", "so", "nothing", "is", "embedded", "twice", "when", "people", "move", "between",
    "two", "versions", "of", "their", "notes", "but", "budget", "still", "holds", "`read_file()`",
    "src/cache/vector_store.py:118", "keep_versions_days", "3f2a9c0d4e5b", "**Note:**", "\n\n- ",
    "キャッシュは", "索引と", "同じフォルダに", "あり、", "検索のたびに", "缓存", "向量",
]
# fmt: on
_START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

Record = dict[str, Any]


class _Session:
    """Draws the parts of one session from a seeded source of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.number = 0
        self.clock = _START

    def stamp(self) -> str:
        self.clock += timedelta(seconds=self.chance.randint(1, 40))
        return self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def next_id(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}-{self.number:08x}-4a2b-9c3d-{self.chance.getrandbits(48):012x}"

    def prose(self, chars: int) -> str:
        words: list[str] = []
        size = 0
        while size < chars:
            word = self.chance.choice(_WORDS)
            words.append(word)
            size += len(word) + 1
        return " ".join(words)[:chars].strip() or "go on"

    def output(self, chars: int) -> str:
        """Text as tools print it: code, listings, JSON in a string."""
        lines: list[str] = []
        size = 0
        while size < chars:
            shape = self.chance.randrange(4)
            number = self.chance.randrange(10_000)
            if shape == 0:
                line = (
                    f'        return self._store.get("key-{number}", default=None)  # row {number}'
                )
            elif shape == 1:
                line = f"-rw-r--r-- 1 ana ana {number:>8} Mar  1 10:15 src/part_{number}.py"
            elif shape == 2:
                line = json.dumps({"id": number, "name": f"part {number}", "ok": True})
            else:
                line = f"{number}\t\tif value_{number} is None: raise ValueError('no value')"
            lines.append(line)
            size += len(line) + 1
        return "\n".join(lines)[:chars]

    def turn_chars(self) -> int:
        """Median about 120, a long tail, as in real logs."""
        return min(int(self.chance.lognormvariate(4.8, 1.5)) + 5, 36_000)

    def output_chars(self) -> int:
        return min(int(self.chance.lognormvariate(7.6, 1.5)) + 20, 400_000)


def claude_records(seed: int) -> Iterator[tuple[Record, int]]:
    """Endless records of one session of Claude Code, each with the characters said in it."""
    session = _Session(seed)
    parent: str | None = None

    def record(kind: str, message: Record | None = None, **more: Any) -> Record:
        nonlocal parent
        uuid = session.next_id("u")
        line: Record = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/ana/project",
            "sessionId": "7b0c2f5e-1111-4a2b-9c3d-000000000001",
            "version": "2.1.200",
            "gitBranch": "main",
            "type": kind,
        }
        if message is not None:
            line["message"] = message
        line |= {"uuid": uuid, "timestamp": session.stamp(), **more}
        parent = uuid
        return line

    def assistant(message_id: str, *blocks: Record) -> Record:
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": list(blocks),
            "stop_reason": None,
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 4000, "output_tokens": 90},
        }
        return record("assistant", message, requestId=f"req_{message_id}")

    while True:
        text = session.prose(session.turn_chars())
        yield record("user", {"role": "user", "content": text}), len(text.encode())
        for _ in range(session.chance.randint(1, 6)):
            message_id = session.next_id("msg")
            thinking = {
                "type": "thinking",
                "thinking": session.output(600),
                "signature": "c2ln" * 90,
            }
            yield assistant(message_id, thinking), 0
            if session.chance.random() < 0.7:
                text = session.prose(session.turn_chars())
                yield assistant(message_id, {"type": "text", "text": text}), len(text.encode())
            call = session.next_id("toolu")
            call_input = {"command": "rg -n value src", "description": session.output(120)}
            if session.chance.random() < 0.2:
                call_input = {"file_path": "/src/a.py", "content": session.output(3000)}
            use = {"type": "tool_use", "id": call, "name": "Bash", "input": call_input}
            yield assistant(message_id, use), 0
            if session.chance.random() < 0.2:
                yield record("progress", None, data={"type": "hook_progress", "command": "lint"}), 0
            output = session.output(session.output_chars())
            content: Any = output
            if session.chance.random() < 0.15:
                content = [{"type": "text", "text": output}]
            result = {"tool_use_id": call, "type": "tool_result", "content": content}
            yield (
                record(
                    "user",
                    {"role": "user", "content": [result]},
                    toolUseResult={"stdout": output, "stderr": "", "interrupted": False},
                ),
                0,
            )
        snapshot = {"messageId": parent, "trackedFileBackups": {"src/a.py": {"version": 1}}}
        yield {"type": "file-history-snapshot", "messageId": parent, "snapshot": snapshot}, 0


def codex_records(seed: int) -> Iterator[tuple[Record, int]]:
    """Endless records of one Codex rollout, each with the characters said in it."""
    session = _Session(seed)

    def line(kind: str, payload: Record) -> Record:
        return {"timestamp": session.stamp(), "type": kind, "payload": payload}

    def message(role: str, text: str) -> Record:
        part = {"type": "input_text" if role == "user" else "output_text", "text": text}
        return line("response_item", {"type": "message", "role": role, "content": [part]})

    meta = {
        "id": "019cc000-0000-7000-8000-000000000001",
        "cwd": "/home/ana/project",
        "originator": "codex_cli_rs",
        "cli_version": "0.146.0",
        "source": "cli",
        "base_instructions": {"text": session.output(20_000)},
        "git": {"branch": "main"},
    }
    yield line("session_meta", meta), 0
    while True:
        yield line("turn_context", {"cwd": "/home/ana/project", "model": "gpt-x"}), 0
        text = session.prose(session.turn_chars())
        yield message("user", text), len(text.encode())
        yield line("event_msg", {"type": "user_message", "message": text, "images": []}), 0
        for _ in range(session.chance.randint(1, 6)):
            reasoning = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA" * 400}
            yield line("response_item", reasoning), 0
            call = {"type": "function_call", "name": "exec_command", "call_id": "c"}
            yield line("response_item", call | {"arguments": json.dumps({"cmd": "rg value"})}), 0
            output = session.output(session.output_chars())
            result = {"type": "function_call_output", "call_id": "c", "output": output}
            yield line("response_item", result), 0
            end = {"type": "exec_command_end", "call_id": "c", "aggregated_output": output}
            yield line("event_msg", end), 0
            yield line("event_msg", {"type": "token_count", "info": {"total_tokens": 4000}}), 0
        text = session.prose(session.turn_chars())
        yield message("assistant", text), len(text.encode())
        yield line("event_msg", {"type": "agent_message", "message": text}), 0


KINDS = {"claude": claude_records, "codex": codex_records}


def write_log(
    path: Path, kind: str, size_bytes: int, *, seed: int = 1, share: float = SPOKEN_SHARE
) -> int:
    """Write a log of about ``size_bytes`` to ``path``; returns the bytes that were said in it.

    Where more was said than ``share``, tool outputs of several megabytes make up for it.
    """
    said = written = 0
    filler = _Session(seed + 1)
    with path.open("wb") as file:
        for record, spoken in KINDS[kind](seed):
            if written >= size_bytes:
                break
            said += spoken
            lines = [record]
            if said > share * (written + 100_000) and spoken == 0:
                lines.append(_long_output(record, filler))
            for one in lines:
                data = json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                written += file.write(data)
    return said


def _long_output(template: Record, session: _Session) -> Record:
    chars = session.chance.randint(1000, LONG_OUTPUT_CHARS)
    output = session.output(min(chars, 20_000)) * (chars // 20_000 + 1)
    if "payload" in template:
        payload = {"type": "function_call_output", "call_id": "long", "output": output}
        return {"timestamp": session.stamp(), "type": "response_item", "payload": payload}
    result = {"tool_use_id": "long", "type": "tool_result", "content": output}
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "uuid": session.next_id("long"),
        "timestamp": session.stamp(),
        "toolUseResult": {"stdout": output},
    }
