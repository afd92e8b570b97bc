"""The exchange that a chunk of a session log belongs to: the question before an answer."""

from __future__ import annotations

from collections.abc import Sequence

from lancebrain.types import StoredChunk


def question_of(chunks: Sequence[StoredChunk], rank: int) -> Sequence[StoredChunk]:
    """The chunks of the question that a chunk answers, as it was asked; none if it answers none.

    An answer has the beginning of its question as its heading. The question is the last turn
    before it that begins so, of the same thread: what agents ask each other has a tag.

    Args:
        chunks: of the whole document, in order.
        rank: of the chunk that was asked for.
    """
    from lancebrain.readers.turn import one_line

    answer = chunks[rank].chunk
    if answer.role is None or not answer.heading_path:
        return ()
    for first in range(rank - 1, -1, -1):
        asked = chunks[first].chunk
        if asked.heading_path or asked.tags != answer.tags:
            continue
        if one_line(asked.text) == answer.heading_path[-1]:
            return chunks[first : _turn_end(chunks, first, rank)]
    return ()


def _turn_end(chunks: Sequence[StoredChunk], first: int, before: int) -> int:
    """The rank after the last chunk of a turn, whose lines are all counted with that."""
    turn = chunks[first].chunk
    end = first + 1
    while end < before and chunks[end - 1].chunk.line_count == 0:
        following = chunks[end].chunk
        same = ("role", "said_at", "heading_path", "tags")
        if any(getattr(following, name) != getattr(turn, name) for name in same):
            break
        end += 1
    return end
