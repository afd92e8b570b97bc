"""Ranked candidates → distinct ones, each with the near-identical texts it stands for. Pure.

The same text is often in several places: a resumed session, a copied note, a quoted page. One
hit is enough, if the other places are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SAME = 0.9
"""Share of common shingles (Jaccard) from which two texts are near-identical."""

_SHINGLE_CHARS = 8
_SHORTEST_CHARS = 80  # a shorter text differs by little even where it differs in what matters
_NEAR_SCORE = 0.1  # near-identical texts have near scores, so no others are compared
_LENGTH_RATIO = 0.9  # follows from SAME


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score.

    Attributes:
        text: folded, white space collapsed.
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
    shingles: dict[tuple[str, int], frozenset[str]] = {}
    for candidate in ranked:
        group = by_text.get(candidate.text)
        if group is None and len(groups) < count:
            group = next((g for g in groups if _alike(g.first, candidate, shingles)), None)
            if group is None:
                groups.append(Group(candidate))
                by_text[candidate.text] = groups[-1]
                continue
        if group is not None:
            group.others.append(candidate)
            by_text.setdefault(candidate.text, group)
    return groups


def _alike(first: Ranked, second: Ranked, shingles: dict[tuple[str, int], frozenset[str]]) -> bool:
    shorter, longer = sorted((len(first.text), len(second.text)))
    if shorter < _SHORTEST_CHARS or shorter < _LENGTH_RATIO * longer:
        return False
    if first.score - second.score > _NEAR_SCORE or first.terms != second.terms:
        return False
    one, other = (
        shingles.setdefault(it.key, _shingles(it.text))
        if it.key not in shingles
        else shingles[it.key]
        for it in (first, second)
    )
    common = len(one & other)
    return common >= SAME * (len(one) + len(other) - common)


def _shingles(text: str) -> frozenset[str]:
    return frozenset(text[at : at + _SHINGLE_CHARS] for at in range(len(text) - _SHINGLE_CHARS + 1))
