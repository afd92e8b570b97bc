"""Ranked candidates → distinct ones, each with the near-identical texts it stands for. Pure.

The same text is often in several places: a resumed session, a copied note, a quoted page. One
hit is enough, if the other places are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SAME = 0.9
"""Share of common parts (Jaccard) from which two texts are near-identical."""

_PART_CHARS = 4  # of a text without spaces; else the parts are its words
_LONG_WORD_CHARS = 12  # on average: then there are no spaces to speak of
_SHORTEST_CHARS = 80  # a shorter text differs by little even where it differs in what matters
_NEAR_SCORE = 0.1  # near-identical texts have near scores, so no others are compared
_LENGTH_RATIO = 0.9  # follows from SAME


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score.

    Attributes:
        text: folded, without white space around it.
        terms: those of the question that it holds, so that one that holds what was asked is
            never folded into one that does not.
    """

    key: tuple[str, int]
    score: float
    text: str
    terms: frozenset[str]


@dataclass(slots=True)
class Group:
    """A candidate and those that say the same, best first."""

    first: Ranked
    others: list[Ranked] = field(default_factory=list)

    def all(self) -> Iterator[Ranked]:
        """The first and the others."""
        yield self.first
        yield from self.others


def distinct(ranked: Sequence[Ranked], count: int) -> list[Group]:
    """The first ``count`` distinct candidates of a ranking, near-identical ones folded in.

    Texts that are equal are found down to the end of the ranking; near-identical ones down to
    where the last of the ``count`` is reached, so that a page never repeats one before it.
    """
    groups: list[Group] = []
    by_text: dict[str, Group] = {}
    parts: dict[str, frozenset[str]] = {}
    for candidate in ranked:
        group = by_text.get(candidate.text)
        if group is None and len(groups) < count:
            group = next((g for g in groups if _alike(g.first, candidate, parts)), None)
            if group is None:
                groups.append(Group(candidate))
                by_text[candidate.text] = groups[-1]
                continue
        if group is not None:
            group.others.append(candidate)
            by_text.setdefault(candidate.text, group)
    return groups


def _alike(first: Ranked, second: Ranked, parts: dict[str, frozenset[str]]) -> bool:
    shorter, longer = sorted((len(first.text), len(second.text)))
    if shorter < _SHORTEST_CHARS or shorter < _LENGTH_RATIO * longer:
        return False
    if first.score - second.score > _NEAR_SCORE or first.terms != second.terms:
        return False
    for text in (first.text, second.text):
        if text not in parts:
            parts[text] = _parts(text)
    one, other = parts[first.text], parts[second.text]
    common = len(one & other)
    return common >= SAME * (len(one) + len(other) - common)


def _parts(text: str) -> frozenset[str]:
    words = text.split()
    if len(text) <= _LONG_WORD_CHARS * len(words):
        return frozenset(words)
    return frozenset(text[at : at + _PART_CHARS] for at in range(len(text) - _PART_CHARS + 1))
