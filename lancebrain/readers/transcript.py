"""The turns of a log → a document: their texts joined, one block each.

The lines of the file belong to the turns: those of a turn go from its own record up to the next
turn's, and those before the first turn belong to the first. So the lines of the blocks before
give the line of each turn but the first, whose lines begin with the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lancebrain.types import Block, Document

from .conversation import Conversation
from .turn import Turn, one_line

_SEPARATOR = "\n\n"
_FACT_WIDTH = 1000


def document_of(
    kind: str,
    talk: Conversation,
    line_count: int,
    *,
    known_lines: int,
    state: dict[str, Any] | None,
) -> tuple[Document, int]:
    """The document of the turns of one reading, and the lines before them that are known turns'.

    Args:
        talk: ended; its turns are settled here.
        line_count: lines of the file by now.
        known_lines: lines that an earlier reading took.
        state: what the next reading needs beside the conversation's own state, which is added
            under ``talk``; None where there will be none.
    """
    answered = talk.finish()
    starts = [turn.line for turn, _ in answered]
    turns_are_known = talk.turn_count > len(answered)
    if starts and not turns_are_known:
        starts[0] = 1
    starts.append(line_count + 1)
    blocks: list[Block] = []
    texts: list[str] = []
    place = 0
    for number, (turn, question) in enumerate(answered):
        texts.append(turn.text + _SEPARATOR)
        end = place + len(texts[-1])
        blocks.append(_block(turn, question, place, end, starts[number + 1] - starts[number]))
        place = end
    document = Document(
        kind=kind,
        text="".join(texts),
        title=talk.best_title,
        blocks=tuple(blocks),
        encoding="utf-8",
        mime="application/json",
        tags=talk.tags,
        metadata=_metadata(talk),
        reader_state=_with_talk(state, talk),
    )
    return document, starts[0] - 1 - known_lines if turns_are_known else 0


def _block(turn: Turn, question: str, start: int, end: int, line_count: int) -> Block:
    return Block(
        start=start,
        end=end,
        kind="turn",
        heading_path=(question,) if question else (),
        tags=turn.tags,
        role=turn.role,
        said_at=turn.said_at,
        line_count=line_count,
    )


def _metadata(talk: Conversation) -> Mapping[str, object]:
    facts = {name: one_line(fact, _FACT_WIDTH) for name, fact in talk.facts.items()}
    metadata: dict[str, object] = dict(facts)
    if span := talk.span:
        metadata["started_at"], metadata["ended_at"] = span
    if talk.skips:
        metadata["skipped_records"] = dict(sorted(talk.skips.items()))
    if talk.masked_count:
        metadata["masked_secrets"] = talk.masked_count
    if talk.notes.get("subagent"):
        metadata["subagent"] = True
    return metadata


def _with_talk(state: dict[str, Any] | None, talk: Conversation) -> str | None:
    carried = None if state is None else talk.carried()
    if state is None or carried is None:
        return None
    whole = state | {"talk": carried}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
