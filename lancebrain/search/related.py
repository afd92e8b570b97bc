"""What is like a passage: the nearest of other documents, by the vector that it has already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lancebrain.search.answer import existing, hit_of
from lancebrain.search.folding import Ranked
from lancebrain.search.terms import folded
from lancebrain.store import Candidate, Snapshot
from lancebrain.types import Filter, Hit, Source

_CANDIDATES_A_HIT = 5
_SPARE_CANDIDATES = 20
"""Neighbours are often of the passage's own document, or several of another."""


def related(
    snapshot: Snapshot,
    key: tuple[str, int],
    *,
    limit: int,
    sources: Iterable[Source],
    live: bool = True,
) -> tuple[Hit, ...]:
    """Passages of other documents that are like one, the nearest of each; no model is needed.

    Args:
        key: path and ``chunk_index``; one that has no vector, or is not there, is like nothing.
        sources: that are configured now.
        live: leave out documents whose file is gone.
    """
    stored = snapshot.rows([key]).get(key)
    vector = None
    if stored is not None:
        vector = snapshot.vectors([stored.chunk.chunk_hash]).get(stored.chunk.chunk_hash)
    if vector is None:
        return ()
    wanted = limit * _CANDIDATES_A_HIT + _SPARE_CANDIDATES
    near = snapshot.vector_candidates(vector, Filter(), wanted)
    by_name = {source.name: source for source in sources}
    found = existing(snapshot, list(_nearest(near, without=key[0])), limit, by_name, live)
    return tuple(hit_of(group, found, ()) for group in found.groups)


def _nearest(near: Sequence[Candidate], *, without: str) -> Iterator[Ranked]:
    """The nearest candidate of each document but one."""
    seen = {without}
    for candidate in near:
        if candidate.path not in seen:
            seen.add(candidate.path)
            text = folded(candidate.text).strip()
            yield Ranked(
                (candidate.path, candidate.chunk_index), candidate.score, text, frozenset()
            )
