"""Chat exports of any program, one JSON object a line.

Two shapes: a message a line, ``{"role": "user", "content": "…"}``, or a conversation a line,
``{"messages": [{"role": …, "content": …}, …]}``. The names of the fields can be others, see
:class:`Fields`. The content is a string or a list of ``{"type": "text", "text": …}`` blocks.
Messages of other roles (system, tool) are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .conversation import Conversation
from .logformat import LogFormat, as_dict, as_list, as_text, texts_of
from .loglines import Record, Verdict, parse


@dataclass(frozen=True, slots=True)
class Fields:
    """Where an export keeps what.

    Attributes:
        role, content, time: names in a message; several are tried in turn.
        messages: names of the list in a line that holds a conversation.
        id: name of a field whose value is a message's own; with it, a message that comes again
            counts once, and its last text stands. None: every line is a message of its own.
        user, assistant: values of the role, in lower case.
    """

    role: tuple[str, ...] = ("role",)
    content: tuple[str, ...] = ("content",)
    time: tuple[str, ...] = ("timestamp", "created_at", "time", "ts")
    messages: tuple[str, ...] = ("messages",)
    id: str | None = None
    user: tuple[str, ...] = ("user", "human")
    assistant: tuple[str, ...] = ("assistant", "ai", "bot", "model")

    @classmethod
    def named(cls, names: Iterable[tuple[str, tuple[str, ...]]]) -> Fields:
        """The usual fields but for these, as :attr:`lancebrain.types.Source.fields` has them."""
        given: dict[str, Any] = dict(names)
        if "id" in given:
            (given["id"],) = given["id"]
        return cls(**given)


def log_format(fields: Fields | None = None) -> LogFormat:
    """The format of exports with these fields."""
    fields = fields or Fields()

    def take(record: Record, talk: Conversation) -> None:
        messages = _first(record, fields.messages)
        if isinstance(messages, list):
            talk.start_alone()
            for message in messages:
                _take_message(as_dict(message), fields, talk)
            talk.start_alone()
        elif not _take_message(record, fields, talk):
            talk.skipped(as_text(record.get("type")))

    def looks_like(head: bytes) -> bool:
        line = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
        if not line.startswith(b"{"):
            return False
        record = parse(line)
        if record is None:  # longer than what is known of it: judged by its names
            names = (fields.messages, fields.role, fields.content)
            found = [any(json.dumps(name).encode() in line for name in group) for group in names]
            return found[1] and (found[0] or found[2])
        messages = as_list(_first(record, fields.messages))
        message = as_dict(messages[0]) if messages else record
        has_role = isinstance(_first(message, fields.role), str)
        return has_role and _first(message, fields.content) is not None

    contents = {*fields.content, *(f"{m}.{c}" for m in fields.messages for c in fields.content)}
    return LogFormat(
        kind="jsonl",
        spoken=frozenset(contents | {f"{content}.text" for content in contents}),
        looks_like=looks_like,
        classify=lambda head: Verdict.PARSE,
        take=take,
    )


def _take_message(message: dict[str, Any], fields: Fields, talk: Conversation) -> bool:
    """Tell what a message says; False if it has no role, so is no message."""
    role = _first(message, fields.role)
    if not isinstance(role, str):
        return False
    role = role.lower()
    if role in fields.user or role in fields.assistant:
        key = message.get(fields.id) if fields.id else None
        talk.say(
            "user" if role in fields.user else "assistant",
            "\n\n".join(texts_of(_first(message, fields.content), ("text", None))),
            _first(message, fields.time),
            key=str(key) if isinstance(key, str | int) else None,
        )
    return True


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if name in record), None)


FORMAT = log_format()
