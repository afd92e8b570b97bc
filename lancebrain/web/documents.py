"""Reading documents: pages of chunks, links, and the versions in which one changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from lancebrain.web.asked import number_of, optional, text_of
from lancebrain.web.behind import live_of
from lancebrain.web.speaking import Json

if TYPE_CHECKING:
    from starlette.requests import Request

    from lancebrain.brain import Brain
    from lancebrain.brain.document import DocumentLinks, DocumentPage


async def _document(request: Request) -> Json:
    asked, live = request.query_params, live_of(request)
    what, at = text_of(asked, "what"), optional(asked, "at")
    from_rank = number_of(asked, "from", 0) if "from" in asked else None
    brain = await live.brain()
    if at is None:
        await live.settle()
    return Json(await live.ask(_page, brain, what, from_rank, at))


def _page(brain: Brain, what: str, from_rank: int | None, at: str | None) -> DocumentPage:
    from lancebrain.brain.document import read_document

    return read_document(brain, what, from_rank=from_rank, at=at)


async def _links(request: Request) -> Json:
    asked, live = request.query_params, live_of(request)
    brain = await live.brain()
    return Json(await live.ask(_linked, brain, text_of(asked, "path"), optional(asked, "at")))


def _linked(brain: Brain, path: str, at: str | None) -> DocumentLinks:
    from lancebrain.brain.document import links_of

    return links_of(brain, path, at=at)


async def _history(request: Request) -> Json:
    live = live_of(request)
    brain = await live.brain()
    return Json(await live.ask(brain.document_history, text_of(request.query_params, "path")))


ROUTES = (
    Route("/api/document", _document),
    Route("/api/document/links", _links),
    Route("/api/document/history", _history),
)
