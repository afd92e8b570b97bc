"""Candidates of both legs → one ranking. Pure, but for the legs it calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from lancebrain.embedders import Embedder
from lancebrain.errors import EmbedderError
from lancebrain.search import legs
from lancebrain.search.folding import Ranked
from lancebrain.search.fusion import fuse
from lancebrain.search.languages import share, unspoken
from lancebrain.search.legs import Key, KeywordLeg
from lancebrain.search.question import MAX_CHARS, Question, occurs
from lancebrain.search.terms import folded, held
from lancebrain.store import Candidate, Snapshot
from lancebrain.types import Query

CANDIDATES = 100
"""Taken from each leg; more when a page beyond that is asked for."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first, and what a person should know of how they were found."""

    ranked: Sequence[Ranked]
    notes: tuple[str, ...]


def rank(
    snapshot: Snapshot,
    question: Question,
    query: Query,
    embedder: Embedder | None,
    pool: Executor,
) -> Ranking:
    """Ask the legs that the mode calls for, and fuse what they found.

    Args:
        query: for its mode, filter and page; its text is in ``question``.
        embedder: None leaves the vectors out, which a hybrid search then notes.
        pool: runs one leg beside the other.
    """
    needed = query.offset + query.limit + 1
    limit = max(CANDIDATES, 2 * needed)
    notes: list[str] = []
    if question.clipped:
        notes.append(f"Only the first {MAX_CHARS} characters of the question were read.")
    words = None
    if query.mode != "vector":
        words = pool.submit(legs.by_keyword, snapshot, question, query.filter, limit, needed)
    by_vector: dict[Key, Candidate] = {}
    weight = 0.0
    if query.mode != "keyword" and embedder is not None:
        try:
            by_vector = legs.by_vector(snapshot, question, embedder, query.filter, limit)
        except EmbedderError as error:
            if query.mode == "vector":
                raise
            notes.append(f"{error} Only keywords were searched.")
        else:
            # At 0, the vectors only order what the words cannot.
            usual = embedder.fusion_weight * share(question.text, embedder.languages)
            weight = 1.0 if query.mode == "vector" else usual
        written = unspoken(question.text, embedder.languages)
        if written is not None:
            notes.append(f"{embedder.name} was not trained on {written}: rely on keywords.")
    elif query.mode == "hybrid":
        notes.append("Without a model, only keywords were searched.")
    by_keyword = words.result() if words is not None else KeywordLeg({})
    notes.extend(by_keyword.notes)
    return Ranking(fused(question, by_keyword, by_vector, weight=weight), tuple(notes))


def fused(
    question: Question,
    by_keyword: KeywordLeg,
    by_vector: Mapping[Key, Candidate],
    *,
    weight: float,
) -> list[Ranked]:
    """The candidates of both legs by their fused score; equal scores by key, so always alike.

    Args:
        weight: the vectors' share, 0 to 1.
    """
    candidates = dict(by_vector) | by_keyword.found
    texts = {key: folded(candidate.text).strip() for key, candidate in candidates.items()}
    keys = [
        key
        for key, text in texts.items()
        if key in by_keyword.found or legs.holds(text, by_keyword.phrases)
    ]
    terms = {key: held(question.terms, texts[key]) for key in keys}
    cosine = np.array([by_vector[key].score if key in by_vector else np.nan for key in keys])
    bm25 = [by_keyword.found[key].score if key in by_keyword.found else 0.0 for key in keys]
    asked = len(question.terms)
    score = fuse(
        cosine,
        np.array(bm25),
        np.array([len(terms[key]) / asked if asked else 1.0 for key in keys]),
        # By meaning alone, the letter of the question does not count.
        np.array([weight < 1 and occurs(question.folded, texts[key]) for key in keys], dtype=bool),
        weight=weight,
    )
    # Beyond the first hundred all scaled cosines are 0, as is all that covers no term: then the
    # raw scores order.
    raw = np.nan_to_num(cosine, nan=-1.0)
    order = sorted(range(len(keys)), key=lambda at: (-score[at], -raw[at], -bm25[at], keys[at]))
    return [Ranked(keys[at], float(score[at]), texts[keys[at]], terms[keys[at]]) for at in order]
