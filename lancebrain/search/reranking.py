"""The first hits of an answer, put in order by a model that reads each with the question.

Within a time that is given, as such a model is slow: what it did not get to stays behind.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lancebrain.search.folding import Group
from lancebrain.store import Passages

if TYPE_CHECKING:
    from lancebrain.embedders import Reranker

FIRST = 30
"""So many hits are reranked at most."""
_AT_ONCE = 5


@dataclass(frozen=True, slots=True)
class Reranking:
    """How an answer is to be reranked.

    Attributes:
        reranker: the model, loaded.
        budget_s: what it may take.
    """

    reranker: Reranker
    budget_s: float


def reranked(
    groups: Sequence[Group], passages: Passages, question: str, how: Reranking
) -> tuple[list[Group], tuple[str, ...]]:
    """The hits in their new order, and what to say about it.

    Args:
        groups: hits, best first.
        passages: their texts.

    Raises:
        EmbedderError: the model failed.
    """
    first = groups[:FIRST]
    texts = [_text(group, passages) for group in first]
    scores: list[float] = []
    started = time.monotonic()
    while len(scores) < len(first) and (not scores or time.monotonic() - started < how.budget_s):
        some = texts[len(scores) : len(scores) + _AT_ONCE]
        scores += how.reranker.score(question, some).tolist()
    scored = [
        replace(group.first, score=score) for group, score in zip(first, scores, strict=False)
    ]
    by_score = sorted(
        (Group(head, group.others) for head, group in zip(scored, first, strict=False)),
        key=lambda group: -group.first.score,
    )
    lowest = by_score[-1].first.score if by_score else 1.0
    rest = [
        Group(replace(group.first, score=min(group.first.score, lowest)), group.others)
        for group in groups[len(scores) :]
    ]
    notes: tuple[str, ...] = ()
    if len(scores) < len(first):
        notes = (f"There was time to rerank {len(scores)} of the first {len(first)} hits.",)
    return [*by_score, *rest], notes


def _text(group: Group, passages: Passages) -> str:
    chunk = passages.chunks[group.first.key]
    trail = " > ".join(chunk.heading_path)
    return f"{trail}\n\n{chunk.text}" if trail else chunk.text
