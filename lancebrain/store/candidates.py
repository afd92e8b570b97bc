"""Rows that may answer a question, by keyword, substring and vector, with their raw scores.

Every one takes a filter as SQL, and applies it before it takes the best rows. Fusing the
rankings is the search's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import filters
from .schema import CHUNK_ROWS, ROW_ID

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .reading import Reading

# What a person pastes may be a whole file: 5,000 words take half a second, and a phrase of 5,000
# times the same word takes minutes.
_QUERY_CHARS = 2_000
_PHRASE_CHARS = 200
_PHRASES = 16
_PHRASE = re.compile(r'"([^"]*)"')
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer, and how well by one measure.

    The text comes with it, by the id of its row: asking for the rows of 200 keys takes more than
    100 ms of 100,000 chunks.
    """

    path: str
    chunk_index: int
    score: float
    text: str


def by_keyword(table: Reading, query: str, where: str, limit: int) -> list[Candidate]:
    """Best chunks by BM25; any word may match, what stands in "quotes" must match as a phrase."""
    full_text = full_text_query(query)
    if full_text is None or limit <= 0:
        return []
    rows = table.by_full_text(full_text, where, [ROW_ID, "_score"], limit)
    return _with_texts(table, rows, rows["_score"].to_pylist())


def by_vector(
    table: Reading,
    column: str,
    vector: NDArray[np.float32],
    where: str,
    limit: int,
    *,
    exact: bool = False,
) -> list[Candidate]:
    """Nearest chunks by cosine similarity; rows without a vector are left out.

    Args:
        exact: compare every vector, whatever index there is.
    """
    if limit <= 0:
        return []
    rows = table.by_vector(column, vector, where, [ROW_ID, "_distance"], limit, exact=exact)
    scores = [1.0 - distance for distance in rows["_distance"].to_pylist()]
    return _with_texts(table, rows, scores)


def by_substring(table: Reading, needle: str, where: str, limit: int) -> list[Candidate]:
    """Chunks that contain the needle in any case, each with score 1.0; which of them, when there
    are more than ``limit``, is not defined."""
    if not needle or limit <= 0:
        return []
    # Half the time of contains(lower(text), …), which writes every text anew.
    holds = f"regexp_like(text, {filters.literal('(?i)' + re.escape(needle))})"
    where = filters.all_of(CHUNK_ROWS, where, holds)
    rows = table.scan(where, ["path", "chunk_index", "text"], limit=limit)
    found = zip(*(rows[column].to_pylist() for column in rows.column_names), strict=True)
    return [Candidate(path, chunk_index, 1.0, text) for path, chunk_index, text in found]


def full_text_query(query: str) -> Any | None:
    """The query in Lance's terms, or None when no word is in it.

    Words outside quotes are joined by OR. Phrases are required, all of them; then the words
    outside add to the score alone.
    """
    from lance.query import BooleanQuery, MatchQuery, Occur, PhraseQuery

    clean = query.encode("utf-8", "replace").decode("utf-8")
    found = [p for p in _PHRASE.findall(clean) if _WORD.search(p)]
    phrases = [_cut(phrase, _PHRASE_CHARS) for phrase in found[:_PHRASES]]
    words = _cut(_PHRASE.sub(" ", clean).strip(), _QUERY_CHARS)
    clauses: list[tuple[Any, Any]] = [(Occur.MUST, PhraseQuery(p, "text")) for p in phrases]
    if _WORD.search(words):
        clauses.append((Occur.SHOULD, MatchQuery(words, "text")))
    if not clauses:
        return None
    return clauses[0][1] if len(clauses) == 1 else BooleanQuery(clauses)


def _cut(text: str, chars: int) -> str:
    """At most so many characters, whole words where white space parts them."""
    if len(text) <= chars:
        return text
    start = text[:chars]
    return start.rsplit(None, 1)[0] if " " in start else start


def _with_texts(table: Reading, rows: pa.Table, scores: list[float]) -> list[Candidate]:
    texts = table.texts(rows[ROW_ID].to_pylist())
    return [
        Candidate(path, chunk_index, score, text)
        for (path, chunk_index, text), score in zip(texts, scores, strict=True)
    ]
