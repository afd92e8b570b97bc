"""Session logs of Claude Code: ``projects/<slug>/<session>.jsonl`` below its config folder.

A line is a record: user and assistant messages with an id and a parent, attachments, and many
kinds of bookkeeping. What people said is spread over strings and text blocks of user records
and, where it was typed while the agent worked, ``queued_command`` attachments; what the model
said is in text blocks of assistant records, one block a line. Everything around it (tool calls
and results, thinking, reminders, hooks, summaries of a compaction) is left out.

The format is not documented by its makers; unknown kinds of record are counted, never an error.
Sub-agents write logs of their own (``…/subagents/agent-*.jsonl``), in older versions beside the
session's (``agent-*.jsonl``), in the oldest as sidechain records within it.
"""

from __future__ import annotations

import re
from typing import Any

from .conversation import Conversation
from .logformat import LogFormat, as_dict, as_text, texts_of
from .loglines import Record, Verdict

# fmt: off
_SILENT_TYPES = frozenset({
    "system", "progress", "file-history-snapshot", "permission-mode", "mode", "last-prompt",
    "pr-link", "frame-link", "worktree-state", "relocated", "bridge-session", "atis-latch",
    "started", "result", "content-replacement", "task-summary", "queue-operation", "agent-name",
    "tool_use", "tool_result",
})
# fmt: on
_SILENT_PREFIX = "marble-origami-"
_TITLES = {
    "custom-title": ("custom", "customTitle"),
    "ai-title": ("generated", "aiTitle"),
    "summary": ("summary", "summary"),
}
_NOTHING_SAID = frozenset({"(no content)", "No response requested."})

# --- a line's first bytes ---------------------------------------------------------------------

_MEMBERS = (
    r'(?:"(?!(?:type|message|attachment|content)")[^"\\]*+":'
    r'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^"{}\[\],]*+),)*+'
)
"""Members with plain values, before the one that tells what the record is."""

_SILENT_NAMES = "|".join([*sorted(_SILENT_TYPES), _SILENT_PREFIX + "[a-z-]+"])
_LINE = re.compile(
    (
        rf'\{{{_MEMBERS}(?:(?P<blocks>(?:"type":"(?:user|assistant)",{_MEMBERS})?'
        r'"message":\{(?:"(?:type|role|id|model)":"[^"\\]*+",)*+"content":\[)'
        rf'|"type":"(?:{_SILENT_NAMES})"'
        rf'|(?:"type":"attachment",{_MEMBERS})?"attachment":\{{"type":"(?!queued_command")[a-z_]+")'
    ).encode()
)
_HEAD = re.compile(
    rb'"type":"(?:user|assistant|system|attachment|summary|file-history-snapshot|progress|'
    rb'custom-title|ai-title|permission-mode|mode|queue-operation|agent-name|last-prompt)"'
)
_HEAD_ID = re.compile(rb'"(?:sessionId|parentUuid|leafUuid|messageId)":')
_SUBAGENT_PATH = re.compile(r"(?:^|/)(?:subagents/.*|agent-[^/]*)\.jsonl$")


def _looks_like(head: bytes) -> bool:
    line = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    spaced = line.replace(b'": ', b'":')
    if not line.startswith(b"{") or b'"projectHash":' in spaced:  # Gemini CLI's
        return False
    return bool(_HEAD.search(spaced) and _HEAD_ID.search(spaced))


def _is_subagent(path: str, head: bytes) -> bool:
    if _SUBAGENT_PATH.search(path):
        return True
    line = head.split(b"\n", 1)[0]
    return b'"isSidechain":true' in line and b'"agentId":"' in line


def _classify(head: bytes) -> Verdict:
    match = _LINE.match(head)
    if match is None:
        return Verdict.PARSE
    # In a list of blocks, speech is in text blocks alone.
    return Verdict.SILENT_WITHOUT_TEXT if match["blocks"] else Verdict.SILENT


# --- records ----------------------------------------------------------------------------------


def _take(record: Record, talk: Conversation) -> None:
    kind = as_text(record.get("type"))
    if kind in ("user", "assistant"):
        _take_message(kind, record, talk)
    elif kind == "attachment":
        _take_attachment(record, talk)
    elif kind in _TITLES:
        rank, field = _TITLES[kind]
        talk.title(rank, record.get(field))
    elif kind not in _SILENT_TYPES and not kind.startswith(_SILENT_PREFIX):
        talk.skipped(kind)


def _take_message(kind: str, record: Record, talk: Conversation) -> None:
    message = as_dict(record.get("message"))
    _note_facts(record, message, talk)
    blocks = texts_of(message.get("content"), ("text",))
    if kind == "assistant":
        if record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
            return
        text = "\n\n".join(block for block in blocks if block.strip() not in _NOTHING_SAID)
        _say("assistant", text, record, talk, message=as_text(message.get("id")) or None)
    elif not _is_injected(record):
        _say("user", user_text(blocks), record, talk)


def _is_injected(record: Record) -> bool:
    marks = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
    origin = as_text(as_dict(record.get("origin")).get("kind"))
    return any(record.get(mark) is True for mark in marks) or origin not in ("", "human", "cli")


def _take_attachment(record: Record, talk: Conversation) -> None:
    attachment = as_dict(record.get("attachment"))
    origin = as_text(as_dict(attachment.get("origin")).get("kind"))
    if (
        attachment.get("type") == "queued_command"
        and attachment.get("commandMode") == "prompt"
        and origin in ("", "human")
    ):
        blocks = texts_of(attachment.get("prompt"), ("text",))
        if not any("<task-notification>" in block for block in blocks):
            _say("user", user_text(blocks), record, talk)


def _say(
    role: str, text: str, record: Record, talk: Conversation, *, message: str | None = None
) -> None:
    sidechain = record.get("isSidechain") is True
    if sidechain and not talk.subagents:
        return
    talk.say(
        # What asks a sub-agent is an agent too.
        "assistant" if sidechain else role,
        text,
        record.get("timestamp"),
        key=as_text(record.get("uuid")) or None,
        message=message,
        asks=role == "user",
        tags=("subagent",) if sidechain else (),
    )


def _note_facts(record: Record, message: dict[str, Any], talk: Conversation) -> None:
    talk.fact("session", record.get("sessionId"), first=True)
    talk.fact("project", record.get("cwd"), first=True)
    talk.fact("git_branch", record.get("gitBranch"))
    talk.fact("version", record.get("version"))
    if message.get("model") != "<synthetic>":
        talk.fact("model", message.get("model"))


# --- the text of a prompt ---------------------------------------------------------------------

_WRAPPED = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|post-tool-use-hook|ide_diagnostics)\b[^>]*>"
    r".*?</\1>",
    re.DOTALL,
)
_DROPPED_STARTS = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below were generated by the user while running local commands",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<teammate-message",
    "[Request interrupted by user",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",  # marked in most versions
)
_COMMAND_STARTS = ("<command-name>", "<command-message>", "<command-args>")
_COMMAND_NAME = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_MEMORY = re.compile(r"<user-memory-input>(.*?)</user-memory-input>", re.DOTALL)


def user_text(blocks: list[str]) -> str:
    """What a person typed, of the text blocks of a user record; ``""`` if nothing."""
    typed = (_typed(block) for block in blocks)
    return "\n\n".join(text for text in typed if text)


def _typed(block: str) -> str:
    text = _WRAPPED.sub("", block).strip("\ufeff \t\r\n")
    if text.startswith(_DROPPED_STARTS):
        return ""
    if text.startswith(_COMMAND_STARTS):
        name, given = _COMMAND_NAME.search(text), _COMMAND_ARGS.search(text)
        words = given.group(1).strip() if given else ""
        return f"/{name.group(1)} {words}" if name and words else ""
    if memory := _MEMORY.match(text):
        return memory.group(1).strip()
    return text


FORMAT = LogFormat(
    kind="claude",
    spoken=frozenset(
        {
            "message.content",
            "message.content.text",
            "attachment.prompt",
            "attachment.prompt.text",
            "attachment.origin.kind",
            "origin.kind",
        }
    ),
    looks_like=_looks_like,
    classify=_classify,
    take=_take,
    is_subagent=_is_subagent,
)
