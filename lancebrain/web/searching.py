"""Searching as one types, and what there is to narrow a search down by."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.routing import Route

from lancebrain.types import Answer, Hit, Query
from lancebrain.web.asked import number_of, optional, query_of, text_of
from lancebrain.web.behind import live_of
from lancebrain.web.speaking import Json

if TYPE_CHECKING:
    from starlette.requests import Request

    from lancebrain.brain import Brain

_MOST_TAGS = 200
_MOST_FOLDERS = 500
_MOST_RELATED = 20


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, and what a page needs to show it.

    Attributes:
        terms: words to highlight, folded (NFKC, lower case).
        by_words_alone: a search by meaning was asked for, and the model is not there.
        is_behind: changes of the files are still being taken in.
        search_ms: that it took.
    """

    answer: Answer
    terms: tuple[str, ...]
    by_words_alone: bool
    is_behind: bool
    search_ms: float


@dataclass(frozen=True, slots=True)
class Choices:
    """What a search can be narrowed to, each with the number of its documents; of tags and
    folders the most frequent ones.

    Attributes:
        folders: paths that end in a slash.
    """

    version: int
    sources: Mapping[str, int]
    domains: Mapping[str, int]
    kinds: Mapping[str, int]
    tags: Mapping[str, int]
    folders: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RecentDocument:
    """A document whose file changed lately."""

    path: str
    title: str
    modified_at: datetime


async def _search(request: Request) -> Json:
    asked, live = request.query_params, live_of(request)
    query, at = query_of(asked), optional(asked, "at")
    brain = await live.brain()
    by_words_alone = query.mode != "keyword" and not await live.has_model()
    if by_words_alone:
        query = Query(query.text, "keyword", query.limit, query.offset, query.filter)
    is_behind = not await live.settle()
    looks = live.worker is None
    found = await live.ask(_found, brain, query, at, looks, by_words_alone, is_behind)
    return Json(found, headers={"Server-Timing": f"search;dur={found.search_ms:.1f}"})


def _found(
    brain: Brain, query: Query, at: str | None, looks: bool, by_words_alone: bool, is_behind: bool
) -> Found:
    started = time.perf_counter()
    answer = brain.search(query, look=looks, at=at)
    took_ms = (time.perf_counter() - started) * 1000
    terms = brain.terms(query.text)
    return Found(answer, terms, by_words_alone, is_behind, round(took_ms, 1))


async def _choices(request: Request) -> Json:
    live = live_of(request)
    return Json(await live.ask(_chosen_from, await live.brain()))


def _chosen_from(brain: Brain) -> Choices:
    from lancebrain.brain.vocabulary import vocabulary_of

    known = vocabulary_of(brain)
    folders: Counter[str] = Counter()
    for path in known.paths:
        parts = path.split("/")[:-1]
        folders.update("/".join(parts[:depth]) + "/" for depth in range(2, len(parts) + 1))
    return Choices(
        version=known.version,
        sources=dict(known.sources.most_common()),
        domains=dict(known.domains.most_common()),
        kinds=dict(known.kinds.most_common()),
        tags=dict(known.tags.most_common(_MOST_TAGS)),
        folders=dict(sorted(folders.most_common(_MOST_FOLDERS))),
    )


async def _related(request: Request) -> Json:
    asked, live = request.query_params, live_of(request)
    limit = number_of(asked, "limit", 6, least=1, most=_MOST_RELATED)
    brain = await live.brain()
    return Json(await live.ask(_alike, brain, text_of(asked, "id"), limit, optional(asked, "at")))


def _alike(brain: Brain, chunk: str, limit: int, at: str | None) -> tuple[Hit, ...]:
    return brain.related(chunk, limit=limit, at=at)


async def _terms(request: Request) -> Json:
    """The words of a question that its hits are ranked by, as a document is opened without one."""
    brain = await live_of(request).brain()
    return Json({"terms": brain.terms(text_of(request.query_params, "q"))})


async def _recent(request: Request) -> Json:
    live = live_of(request)
    limit = number_of(request.query_params, "limit", 8, least=1, most=_MOST_RELATED)
    return Json(await live.ask(_changed_last, await live.brain(), limit))


def _changed_last(brain: Brain, limit: int) -> list[RecentDocument]:
    documents = brain.documents(("path", "title", "kind", "modified_at"))
    rows = documents.sort_by([("modified_at", "descending")]).slice(0, limit).to_pylist()
    return [
        RecentDocument(row["path"], row["title"] or "", row["modified_at"])
        for row in rows
        if row["kind"]
    ]


ROUTES = (
    Route("/api/search", _search),
    Route("/api/terms", _terms),
    Route("/api/recent", _recent),
    Route("/api/choices", _choices),
    Route("/api/related", _related),
)
