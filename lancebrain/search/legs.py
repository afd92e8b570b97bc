"""The two legs of a search: candidates by keyword and by vector, from one snapshot.

The full-text index knows words. What a person means to the letter may not be one: then the
texts themselves are looked through, but only where the index found too little.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lancebrain.embedders import Embedder
from lancebrain.search.question import Question, collapsed, occurs
from lancebrain.search.terms import fold, folded
from lancebrain.store import Candidate, Snapshot
from lancebrain.types import Filter

Key = tuple[str, int]

NOWHERE = "Nothing holds"
"""Begins the note that what was asked for to the letter is nowhere."""
_MOST_UNITS = 4  # phrases, identifiers or short words that are looked for letter by letter
_LONGEST_NEEDLE = 200
_TYPICAL_CHARS = 400


@dataclass(frozen=True, slots=True)
class KeywordLeg:
    """What the keywords found.

    Attributes:
        found: candidates with a score of BM25's scale.
        phrases: folded, that every hit must hold; empty if there are none, or nowhere.
        notes: for people.
    """

    found: dict[Key, Candidate]
    phrases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def by_keyword(
    snapshot: Snapshot, question: Question, wanted: Filter, limit: int, enough: int
) -> KeywordLeg:
    """Candidates by BM25, and by the letter where that is called for.

    Args:
        limit: of candidates of each query.
        enough: hits that the answer needs; with fewer, short words are looked for by the letter.
    """
    found = _by_key(snapshot.keyword_candidates(question.keywords, wanted, limit))
    if question.phrases:
        phrases = tuple(collapsed(phrase) for phrase in question.phrases)
        if not found:
            rows = _scan(snapshot, max(question.phrases, key=len), wanted, limit)
            found = _by_key(row for row in rows if holds(folded(row.text), phrases))
        if found:
            return KeywordLeg(found, phrases)
        quoted = ", ".join(f'"{phrase}"' for phrase in question.phrases)
        note = f"{NOWHERE} {quoted} as it stands; these hits match the words."
        found = _by_key(snapshot.keyword_candidates(question.unquoted, wanted, limit))
        return KeywordLeg(found, notes=(note,))
    for unit in question.identifiers[:_MOST_UNITS]:
        if not _holding(found, unit):
            _add(found, _identifier(snapshot, unit, wanted, limit), unit)
    for unit in question.short_words[:_MOST_UNITS]:
        if _holding(found, unit) < enough:
            _add(found, _scan(snapshot, unit, wanted, limit), unit)
    looked_for = {*question.identifiers[:_MOST_UNITS], *question.short_words[:_MOST_UNITS]}
    if not found and question.text not in looked_for and len(question.text) <= _LONGEST_NEEDLE:
        _add(found, _scan(snapshot, question.text, wanted, limit), question.text)
    return KeywordLeg(found)


def by_vector(
    snapshot: Snapshot, question: Question, embedder: Embedder, wanted: Filter, limit: int
) -> dict[Key, Candidate]:
    """Candidates by cosine similarity."""
    vector = embedder.embed_query(question.text)
    return _by_key(snapshot.vector_candidates(vector, wanted, limit))


def holds(text: str, phrases: Iterable[str]) -> bool:
    """Whether a folded text holds every phrase."""
    return all(occurs(phrase, text) for phrase in phrases)


def _identifier(snapshot: Snapshot, unit: str, wanted: Filter, limit: int) -> list[Candidate]:
    """Rows with the letters, else with its parts next to each other.

    The index gives the parts (``get value`` for ``get_value``); a part of a longer name
    (``http_cli`` of ``http_client``) only the texts themselves.
    """
    rows = snapshot.keyword_candidates(f'"{unit}"', wanted, limit)
    to_the_letter = [row for row in rows if fold(unit) in folded(row.text)]
    return to_the_letter or _scan(snapshot, unit, wanted, limit) or rows


def _scan(snapshot: Snapshot, unit: str, wanted: Filter, limit: int) -> list[Candidate]:
    """Chunks that hold the unit, in the first of its spellings that any chunk has."""
    needle = unit[:_LONGEST_NEEDLE]
    forms = (unicodedata.normalize(form, needle) for form in ("NFKC", "NFC", "NFD"))
    for spelling in dict.fromkeys((needle, *forms)):
        rows = snapshot.substring_candidates(spelling, wanted, limit)
        if rows:
            return rows
    return []


def _add(found: dict[Key, Candidate], rows: Iterable[Candidate], unit: str) -> None:
    """Take in rows that are not there, scored as if the unit were the best of the words."""
    best = max((candidate.score for candidate in found.values()), default=1.0)
    for row in rows:
        score = best * _saturation(folded(row.text).count(fold(unit)), len(row.text))
        found.setdefault((row.path, row.chunk_index), replace(row, score=score))


def _saturation(count: int, chars: int) -> float:
    """BM25's share of how often a word occurs, k1 = 1.2 and b = 0.75; at most 1 here.

    Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), 3.5.
    """
    occurrences = max(count, 1)
    length = 0.25 + 0.75 * chars / _TYPICAL_CHARS
    return min(1.0, occurrences * 2.2 / (occurrences + 1.2 * length))


def _holding(found: dict[Key, Candidate], unit: str) -> int:
    letters = fold(unit)
    return sum(letters in folded(candidate.text) for candidate in found.values())


def _by_key(rows: Iterable[Candidate]) -> dict[Key, Candidate]:
    return {(row.path, row.chunk_index): row for row in rows}
