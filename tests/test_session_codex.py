"""What a log of Codex says, in each of its generations, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from lancebrain.readers.session import SessionOptions, detect, is_subagent_log, read
from lancebrain.types import Problem
from tests.session_logs import (
    SESSION,
    Record,
    codex,
    codex_event,
    codex_meta,
    codex_said,
    compressed,
    document,
    jsonl,
    lines,
    said,
    text,
)


def spoken(*records: Record | bytes, **options: Any) -> list[tuple[str, str]]:
    return said(document("codex", jsonl(*records), **options))


def test_messages_are_kept_once_with_role_and_line() -> None:
    found = document(
        "codex",
        jsonl(
            codex_meta(),
            codex("turn_context", {"cwd": "/home/ana/ship", "model": "gpt-x"}),
            codex_said("user", "How do I oil the winch?", second=2),
            codex_event("user_message", message="How do I oil the winch?", images=[]),
            codex_said("assistant", "Let me look.", second=4, ordinal=7),
            codex_event("agent_message", message="Let me look."),
            codex_said("assistant", "Three drops.", second=6),
            codex_event("task_complete", last_agent_message="Three drops."),
        ),
    )
    assert said(found) == [
        ("user", "How do I oil the winch?"),
        ("assistant", "Let me look."),
        ("assistant", "Three drops."),
    ]
    assert lines(found) == [1, 5, 7]
    assert found.blocks[2].heading_path == ("How do I oil the winch?",)
    assert found.metadata == {
        "session": SESSION,
        "project": "/home/ana/ship",
        "git_branch": "main",
        "version": "0.146.0",
        "model": "gpt-x",
        "started_at": "2026-03-01T10:00:02+00:00",
        "ended_at": "2026-03-01T10:00:06+00:00",
    }


def item(kind: str, **fields: Any) -> Record:
    return codex("response_item", {"type": kind} | fields)


NO_BLOCK = [{"type": "input_text", "text": "NO"}]
SILENT: dict[str, Record] = {
    "developer": codex_said("developer", "<permissions instructions>NO</permissions instructions>"),
    "system": codex_said("system", "NO"),
    "reasoning": item("reasoning", summary=[{"type": "summary_text", "text": "NO"}]),
    "call": item("function_call", name="exec", arguments='{"cmd":"NO"}', call_id="c"),
    "call without arguments": item("function_call", name="exec", arguments=None),
    "output": item("function_call_output", call_id="c", output="NO"),
    "output in blocks": item("function_call_output", output=NO_BLOCK),
    "output in an object": item("function_call_output", output=NO_BLOCK[0]),
    "custom call": item("custom_tool_call", name="apply_patch", input="NO"),
    "custom output": item("custom_tool_call_output", output=NO_BLOCK),
    "shell": item("local_shell_call", action={"type": "exec", "command": ["NO"]}),
    "web search": item("web_search_call", action={"query": "NO"}),
    "image": item("image_generation_call", result="NO"),
    "between agents": item("agent_message", author="/a", recipient="/b", content=NO_BLOCK),
    "compaction": item("compaction", encrypted_content="NO"),
    "ghost": item("ghost_snapshot", ghost_commit={"id": "NO"}),
    "agent reasoning": codex_event("agent_reasoning", text="NO"),
    "exec end": codex_event("exec_command_end", aggregated_output="NO"),
    "patch end": codex_event("patch_apply_end", changes={"a": {"content": "NO"}}),
    "mcp end": codex_event("mcp_tool_call_end", result={"Ok": {"content": NO_BLOCK}}),
    "error": codex_event("error", message="NO"),
    "collab": codex_event("collab_agent_spawn_end", prompt="NO"),
    "item": codex_event("item_completed", item={"type": "UserMessage", "content": NO_BLOCK}),
    "context": codex("turn_context", {"user_instructions": "NO"}),
    "world": codex("world_state", {"state": {"agents_md": {"text": "NO"}}}),
    "compacted": codex(
        "compacted",
        {
            "message": "NO",
            "replacement_history": [{"type": "message", "role": "user", "content": NO_BLOCK}],
        },
    ),
    "agents talking": codex("inter_agent_communication", {"content": NO_BLOCK}),
    "later meta": codex_meta(id="NO", cwd="/NO", cli_version="NO"),
    "unknown record": codex("future_kind", {"type": "x", "text": "NO"}),
    "unknown item": item("future_item", text="NO", content=NO_BLOCK),
    "unknown event": codex_event("future_event", message="NO"),
    "AGENTS.md": codex_said(
        "user",
        "# AGENTS.md instructions for /ship\n\n<INSTRUCTIONS>\nNO\n</INSTRUCTIONS>",
        "<environment_context>\n  <cwd>NO</cwd>\n</environment_context>",
    ),
    "AGENTS.md of no folder": codex_said(
        "user", "# AGENTS.md instructions\n\n<INSTRUCTIONS>NO </INSTRUCTIONS> NO</INSTRUCTIONS>"
    ),
    "instructions": codex_said("user", "<user_instructions>\nNO\n</user_instructions>"),
    "shell command": codex_said(
        "user", "<USER_SHELL_COMMAND>NO </user_shell_command> NO</user_shell_command>"
    ),
    "aborted": codex_said("user", "<turn_aborted>\nNO\n</turn_aborted>"),
    "subagent": codex_said("user", '<subagent_notification>{"x":"NO"}</subagent_notification>'),
    "skill": codex_said("user", "<skill>\n<name>x</name>NO\n</skill>"),
    "internal": codex_said(
        "user", '<codex_internal_context source="goal">\nNO\n</codex_internal_context>'
    ),
    "goal": codex_said("user", "<goal_context>NO</goal_context>"),
    "extension": codex_said("user", "<extension_context>NO</extension_context>"),
    "plugins": codex_said("user", "<recommended_plugins>NO</recommended_plugins>"),
    "hook": codex_said("user", '<hook_prompt name="x">NO</hook_prompt>'),
    "warning": codex_said("user", "Warning: apply_patch was requested via shell. NO"),
    "flagged": codex_said(
        "user",
        "Warning: Your account was flagged for potentially high-risk cyber activity. NO",
    ),
    "image marks": codex_said("user", "<image name=[NO]>", "</image>"),
    "IDE without request": codex_said("user", "# Context from my IDE setup:\n\n## Open: NO"),
}


@pytest.mark.parametrize("record", SILENT.values(), ids=SILENT.keys())
def test_what_nobody_said_is_left_out(record: Record) -> None:
    found = document(
        "codex",
        jsonl(codex_meta(), codex_said("user", "Before"), record, codex_said("user", "After")),
    )
    assert said(found) == [("user", "Before"), ("user", "After")]
    assert found.metadata["session"] == SESSION


@pytest.mark.parametrize(
    ("blocks", "typed"),
    [
        (["<environment_context>NO</environment_context>", "and in winter?"], "and in winter?"),
        (
            [
                "# AGENTS.md instructions for /a\n<INSTRUCTIONS>NO</INSTRUCTIONS>\n"
                "<environment_context>NO</environment_context>\n\nand in winter?"
            ],
            "and in winter?",
        ),
        (
            [
                "# Context from my IDE setup:\n\n## Active file: a.py\n## Open tabs:\n- NO\n\n"
                "## My request for Codex:\nrename it\nplease\n"
            ],
            "rename it\nplease",
        ),
        (
            ["<project_context>my own tag</project_context>"],
            "<project_context>my own tag</project_context>",
        ),
        (["<image name=x>", "see photo", "</image>"], "see photo"),
        (["<skills> are not <skill>"], "<skills> are not <skill>"),
    ],
)
def test_what_was_typed_is_kept_without_what_was_put_before(blocks: list[str], typed: str) -> None:
    assert spoken(codex_meta(), codex_said("user", *blocks)) == [("user", typed)]


def test_copies_for_the_screen_count_where_a_role_has_no_message_in_the_file() -> None:
    asked = codex_event("user_message", message="Which rope?", second=1)
    answered = codex_event("agent_message", message="The long one.", second=2)
    both = [("user", "Which rope?"), ("assistant", "The long one.")]
    assert spoken(codex_meta(), asked, answered) == both
    # One role has messages, the other only copies, before and after them.
    message = codex_said("assistant", "The long one.")
    assert spoken(codex_meta(), asked, answered, message) == both
    assert spoken(codex_meta(), asked, message, answered) == both
    # Injected text is a message too.
    injected = codex_said("user", "<environment_context>NO</environment_context>")
    assert spoken(codex_meta(), asked, answered, injected) == [("assistant", "The long one.")]


def test_the_first_generation_is_read_without_envelopes() -> None:
    records: list[Record | bytes] = [
        {"id": SESSION, "timestamp": "2025-05-01T10:00:00.000Z", "instructions": "NO", "git": {}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [text("Tie it", "input_text")]},
        {"type": "reasoning", "id": "r", "summary": [{"text": "NO"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"text":"NO"}'},
        {"type": "function_call_output", "output": "NO"},
        {"type": "message", "role": "assistant", "content": [text("Tied.", "output_text")]},
        {"role": "user", "content": "Tighter", "timestamp": "2025-09-10T10:00:00Z"},
    ]  # fmt: skip
    found = document("codex", jsonl(*records))
    assert said(found) == [("user", "Tie it"), ("assistant", "Tied."), ("user", "Tighter")]
    assert found.metadata["session"] == SESSION
    assert "skipped_records" not in found.metadata
    assert detect(jsonl(records[0])) == "codex"
    assert detect(jsonl(records[2])) == "codex"


def test_the_thread_name_is_the_title() -> None:
    question = codex_said("user", "Oil?")
    named = codex_event("thread_name_updated", thread_name="Winch care")
    assert document("codex", jsonl(codex_meta(), question)).title == "Oil?"
    assert document("codex", jsonl(codex_meta(), question, named)).title == "Winch care"


def test_unknown_kinds_are_counted_by_name() -> None:
    found = document(
        "codex",
        jsonl(
            codex("novel", {}), item("odd"), item("odd"), codex_event("strange"), {"type": "bare"}
        ),
    )
    assert found.metadata["skipped_records"] == {
        "bare": 1,
        "event_msg/strange": 1,
        "novel": 1,
        "response_item/odd": 2,
    }


@pytest.mark.parametrize(
    "meta",
    [
        {"parent_thread_id": "019c"},
        {"thread_source": "subagent"},
        {"source": {"subagent": {"other": "guardian"}}},
    ],
)
def test_a_subagents_log_is_known_by_its_first_line(meta: Record) -> None:
    data = jsonl(
        codex_meta(**meta), codex_said("user", "You check it."), codex_said("assistant", "Good.")
    )
    assert is_subagent_log("sessions/rollout-a.jsonl", data)
    assert document("codex", data).text == ""
    found = document("codex", data, subagents=True)
    assert said(found) == [("assistant", "You check it."), ("assistant", "Good.")]
    assert found.blocks[1].heading_path == ("You check it.",)
    assert (found.tags, found.metadata["subagent"]) == (("subagent",), True)
    asked = codex_event("user_message", message="You check it.")
    copied = jsonl(codex_meta(**meta), asked, codex_said("assistant", "Good."))
    assert said(document("codex", copied, subagents=True)) == said(found)


def test_a_fork_is_no_subagents_log_whatever_its_copied_history_says() -> None:
    data = jsonl(
        codex_meta(
            forked_from_id="019c",
            parent_thread_id=None,
            base_instructions={"text": '"thread_source":"subagent"'},
        ),
        codex_meta(id="parent", thread_source="subagent"),
        codex_said("user", "Go on"),
    )
    assert not is_subagent_log("sessions/rollout-a.jsonl", data)
    assert said(document("codex", data)) == [("user", "Go on")]


def test_the_format_is_known_by_its_first_line_however_long() -> None:
    data = jsonl(codex_meta(base_instructions={"text": "x" * 100_000}))
    assert detect(data[:8192]) == "codex"


def test_an_archived_log_is_read_through_its_compression() -> None:
    data = jsonl(codex_meta(), codex_said("user", "Old rope"), codex_said("assistant", "Gone."))
    half = data.index(b"\n") + 1
    plain = document("codex", data)
    for archive in (compressed(data), compressed(data[:half]) + compressed(data[half:])):
        found = document("codex", archive, "archived/rollout-a.jsonl.zst")
        assert (found.text, found.blocks, found.metadata) == (
            plain.text,
            plain.blocks,
            plain.metadata,
        )
        assert found.reader_state is None  # always read whole
        assert detect(archive[:60_000]) == "codex"
    child = compressed(jsonl(codex_meta(thread_source="subagent")))
    assert is_subagent_log("archived/rollout-b.jsonl.zst", child)


def test_a_broken_archive_is_a_problem() -> None:
    archive = bytearray(compressed(jsonl(codex_meta(), *[codex_said("user", "x" * 999)] * 99)))
    archive[20:40] = b"\xff" * 20
    found = read("archived/a.jsonl.zst", "codex", bytes(archive), SessionOptions())
    assert isinstance(found, Problem)
    assert (found.path, found.code) == ("archived/a.jsonl.zst", "damaged-archive")
