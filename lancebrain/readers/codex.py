"""Session logs of Codex: ``sessions/YYYY/MM/DD/rollout-*.jsonl`` and archived ones.

Three generations. The first wrote bare items, one a line (``{"type": "message", "role": …}``,
at last with ``{"record_type": "state"}`` between). Then each got an envelope
``{"timestamp", "type", "payload"}``, later with an ``ordinal`` and more kinds. What was said is
in ``response_item`` messages; ``event_msg`` repeats them for the screen, and counts only where a
role has no message at all in the file. Injected context has the role ``user`` too: it is known
by its marks and cut from the front of what was typed.

A fork or a sub-agent's log begins with its own ``session_meta`` and goes on with a copy of its
parent's: only the first one is about this session.

The format is not documented by its makers; unknown kinds of record are counted, never an error.
"""

from __future__ import annotations

import re
from typing import Any

from .conversation import Conversation
from .logformat import LogFormat, as_dict, as_text, texts_of
from .loglines import Record, Verdict

_SPEAKERS = ("user", "assistant")
# fmt: off
_SILENT_ITEMS = frozenset({
    "reasoning", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "local_shell_call", "local_shell_call_output", "web_search_call",
    "tool_search_call", "tool_search_output", "image_generation_call", "additional_tools",
    "agent_message", "compaction", "compaction_summary", "context_compaction", "ghost_snapshot",
    "other",
})
# fmt: on
_SILENT_BARE = _SILENT_ITEMS | {"tool_call", "tool_result", "function_result", "error"}
# fmt: off
_SILENT_EVENTS = frozenset({
    "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break",
    "token_count", "task_started", "task_complete", "turn_started", "turn_complete",
    "turn_aborted", "exec_command_begin", "exec_command_end", "patch_apply_begin",
    "patch_apply_end", "mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin",
    "web_search_end", "view_image_tool_call", "entered_review_mode", "exited_review_mode",
    "context_compacted", "thread_rolled_back", "thread_goal_updated", "thread_settings_applied",
    "guardian_assessment", "error", "undo_started", "undo_completed", "item_started",
    "item_completed", "sub_agent_activity", "image_generation_begin", "image_generation_end",
})
# fmt: on
_SILENT_EVENT_PREFIX = "collab_"
# fmt: off
_SILENT_RECORDS = frozenset({
    "compacted", "world_state", "inter_agent_communication", "inter_agent_communication_metadata",
})
# fmt: on
_EVENT_SPEAKERS = {"user_message": "user", "agent_message": "assistant"}

# --- a line's first bytes ---------------------------------------------------------------------


def _names(names: frozenset[str]) -> str:
    return "|".join(sorted(names))


_SILENT = re.compile(
    (
        r'\{(?:"timestamp":"[^"\\]*+",)?(?:"ordinal":\d++,)?"type":"(?:'
        rf'response_item","payload":\{{"type":"(?:{_names(_SILENT_ITEMS)})"'
        rf'|event_msg","payload":\{{"type":"(?:{_names(_SILENT_EVENTS)}|'
        rf'{_SILENT_EVENT_PREFIX}[a-z_]+)"|(?:{_names(_SILENT_RECORDS)})")'
    ).encode()
)
_ENVELOPE = re.compile(
    rb'"type":\s?"(?:session_meta|response_item|event_msg|turn_context|compacted|world_state)"'
)
_BARE_META = re.compile(rb'\{"id":\s?"[^"]*",\s?"timestamp":\s?"[^"]*",\s?"instructions":')
_BARE_ITEM = re.compile(
    rb'"record_type":\s?"state"|"type":\s?"(?:message|reasoning|function_call)",\s?"(?:id|role|'
    rb'content|summary|name)":'
)
_SUBAGENT = re.compile(
    rb'"parent_thread_id":\s?"|"thread_source":\s?"subagent"|"source":\s?\{\s?"subagent"'
)


def _first_line(head: bytes) -> bytes:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]


def _looks_like(head: bytes) -> bool:
    line = _first_line(head)
    if not line.startswith(b"{"):
        return False
    enveloped = b'"payload":' in line and _ENVELOPE.search(line)
    return bool(enveloped or _BARE_META.match(line) or _BARE_ITEM.search(line))


def _is_subagent(path: str, head: bytes) -> bool:
    line = _first_line(head)
    # What a text quotes has its quotes escaped, so only members of the record are found.
    return b'"session_meta"' in line and bool(_SUBAGENT.search(line))


def _classify(head: bytes) -> Verdict:
    return Verdict.SILENT if _SILENT.match(head) else Verdict.PARSE


# --- records ----------------------------------------------------------------------------------


def _take(record: Record, talk: Conversation) -> None:
    kind, payload = as_text(record.get("type")), record.get("payload")
    if not isinstance(payload, dict):
        _take_bare(record, talk)
    elif kind == "session_meta":
        _take_meta(payload, talk)
    elif kind == "response_item":
        _take_item(payload, record.get("timestamp"), talk)
    elif kind == "event_msg":
        _take_event(payload, record.get("timestamp"), talk)
    elif kind == "turn_context":
        talk.fact("model", payload.get("model"))
    elif kind not in _SILENT_RECORDS:
        talk.skipped(kind)


def _take_bare(record: Record, talk: Conversation) -> None:
    kind = as_text(record.get("type"))
    time = record.get("timestamp") or record.get("created_at")
    if kind in ("", "message") and "role" in record:
        talk.fact("model", record.get("model"))
        _take_message(record, time, talk)
    elif not kind and "id" in record:
        _take_meta(record, talk)
    elif kind not in _SILENT_BARE and "record_type" not in record:
        talk.skipped(kind)


def _take_meta(meta: dict[str, Any], talk: Conversation) -> None:
    if talk.notes.get("meta"):
        return
    talk.notes["meta"] = True
    talk.fact("session", meta.get("id"))
    talk.fact("project", meta.get("cwd"))
    talk.fact("git_branch", as_dict(meta.get("git")).get("branch"))
    talk.fact("version", meta.get("cli_version"))
    source = as_dict(meta.get("source"))
    if (
        isinstance(meta.get("parent_thread_id"), str)
        or meta.get("thread_source") == "subagent"
        or "subagent" in source
    ):
        talk.notes["subagent"] = True
        talk.silent = not talk.subagents


def _take_item(item: dict[str, Any], time: object, talk: Conversation) -> None:
    kind = as_text(item.get("type"))
    if kind == "message" or (not kind and "role" in item):
        _take_message(item, time, talk)
    elif kind not in _SILENT_ITEMS:
        talk.skipped(f"response_item/{kind}")


def _take_message(item: dict[str, Any], time: object, talk: Conversation) -> None:
    role = item.get("role")
    if role not in _SPEAKERS:
        return
    content = item.get("content") or item.get("message")
    blocks = texts_of(content, ("input_text", "output_text", "text"))
    talk.outrank(role)
    _say(role, user_text(blocks) if role == "user" else "\n\n".join(blocks), time, talk)


def _take_event(event: dict[str, Any], time: object, talk: Conversation) -> None:
    kind = as_text(event.get("type"))
    if kind in _EVENT_SPEAKERS:
        role, text = _EVENT_SPEAKERS[kind], as_text(event.get("message"))
        _say(role, user_text([text]) if role == "user" else text, time, talk, spare=role)
    elif kind == "thread_name_updated":
        talk.title("custom", event.get("thread_name"))
    elif kind not in _SILENT_EVENTS and not kind.startswith(_SILENT_EVENT_PREFIX):
        talk.skipped(f"event_msg/{kind}")


def _say(role: str, text: str, time: object, talk: Conversation, *, spare: str = "") -> None:
    between_agents = bool(talk.notes.get("subagent"))
    talk.say(
        # What asks a sub-agent is an agent too.
        "assistant" if between_agents else role,
        text,
        time,
        asks=role == "user",
        spare=spare,
        tags=("subagent",) if between_agents else (),
    )


# --- the text of a prompt ---------------------------------------------------------------------

_FRAGMENT = re.compile(
    r"\s*+(?:"
    r"<(environment_context|user_instructions|user_shell_command|turn_aborted|goal_context|"
    r"subagent_notification|skill|codex_internal_context|extension_context|"
    r"recommended_plugins|hook_prompt)(?:\s[^>]*)?>.*?</\1>"
    r"|\# AGENTS\.md instructions\b.*?</INSTRUCTIONS>)\s*",
    re.DOTALL | re.IGNORECASE,
)
_WARNINGS = (
    "warning: your account was flagged for potentially high-risk cyber activity",
    "warning: apply_patch was requested via ",
)
_IDE_CONTEXT = "# Context from my IDE setup:"
_IDE_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)
_IMAGE_MARK = re.compile(r"<image\b[^>]*>|</image>")


def user_text(blocks: list[str]) -> str:
    """What a person typed, of the text blocks of a user message; ``""`` if nothing."""
    typed = (_typed(block) for block in blocks)
    return "\n\n".join(text for text in typed if text)


def _typed(block: str) -> str:
    text = block.strip("\ufeff \t\r\n")
    if _IMAGE_MARK.fullmatch(text):
        return ""
    while fragment := _FRAGMENT.match(text):
        # A fragment may quote its own closing mark, so one that fills the block is cut whole.
        closing = f"</{fragment[1] or 'INSTRUCTIONS'}>"
        if text.lower().endswith(closing.lower()):
            return ""
        text = text[fragment.end() :]
    if text.lower().startswith(_WARNINGS):
        return ""
    if text.startswith(_IDE_CONTEXT):
        requests = list(_IDE_REQUEST.finditer(text))
        return text[requests[-1].end() :].strip() if requests else ""
    return text


FORMAT = LogFormat(
    kind="codex",
    spoken=frozenset(
        {
            "payload.content",
            "payload.content.text",
            "payload.message",
            "payload.git.branch",
            "payload.source.subagent",
            "content",
            "content.text",
            "message",
            "git.branch",
        }
    ),
    looks_like=_looks_like,
    classify=_classify,
    take=_take,
    is_subagent=_is_subagent,
)
