"""The index in time: versions, what changed, and going back.

What changes anything is done in two steps: a dry run tells what would happen, for a person to
read; then the same request without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from starlette.routing import Route

from lancebrain.types import Diff, DocumentChange, Progress, SyncReport, Version
from lancebrain.web.asked import number_of, optional, text_of
from lancebrain.web.behind import behind, changing, live_of
from lancebrain.web.speaking import Json, body_of, text_in

if TYPE_CHECKING:
    from starlette.requests import Request

    from lancebrain.brain import Brain

_MOST_VERSIONS = 5_000
_MOST_CHANGES = 2_000


@dataclass(frozen=True, slots=True)
class Versions:
    """A page of the history, newest first.

    Attributes:
        count: of all versions that can be read.
    """

    versions: tuple[Version, ...]
    count: int


@dataclass(frozen=True, slots=True)
class ShownDiff:
    """What changed between two versions.

    Attributes:
        diff: its first changes, if there are very many.
        count: of all changes.
    """

    diff: Diff
    count: int


async def _history(request: Request) -> Json:
    live = live_of(request)
    limit = number_of(request.query_params, "limit", 200, least=1, most=_MOST_VERSIONS)
    brain = await live.brain()
    versions = await live.ask(brain.history)
    return Json(Versions(tuple(versions[:limit]), len(versions)))


async def _diff(request: Request) -> Json:
    asked, live = request.query_params, live_of(request)
    earlier, later = text_of(asked, "from"), text_of(asked, "to")
    brain = await live.brain()
    return Json(await live.ask(_shown_diff, brain, earlier, later, optional(asked, "path")))


def _shown_diff(brain: Brain, earlier: str, later: str, path: str | None) -> ShownDiff:
    found = brain.diff(earlier, later, texts=path is not None, path=path)
    shown: tuple[DocumentChange, ...] = found.changes[:_MOST_CHANGES]
    return ShownDiff(Diff(found.version_from, found.version_to, shown), len(found.changes))


async def _rollback(request: Request) -> Json:
    live, body = changing(request), await body_of(request)
    brain = await live.brain()
    dry_run = body.get("dry_run") is True
    work = partial(brain.rollback, text_in(body, "ref"), dry_run=dry_run)
    return Json(await (live.ask(work) if dry_run else live.change(work)))


async def _resume(request: Request) -> Json:
    live = changing(request)
    return Json(await _with_progress(request, (await live.brain()).resume))


async def _look(request: Request) -> Json:
    """Bring the index up to the files now."""
    live = live_of(request)
    return Json(await _with_progress(request, (await live.brain()).sync))


async def _with_progress(request: Request, work: Callable[..., SyncReport]) -> SyncReport:
    heart, live = behind(request).heart, live_of(request)

    def tell(progress: Progress) -> None:
        heart.progress = progress

    try:
        return await live.change(partial(work, progress=tell))
    finally:
        heart.progress = None
        live.note_change()


async def _restore(request: Request) -> Json:
    live, body = changing(request), await body_of(request)
    brain = await live.brain()
    at = body.get("at")
    dry_run = body.get("dry_run") is True
    work = partial(
        brain.restore,
        text_in(body, "path"),
        at=at if isinstance(at, str) and at else None,
        overwrite=body.get("overwrite") is True,
        dry_run=dry_run,
    )
    return Json(await (live.ask(work) if dry_run else live.change(work)))


async def _name(request: Request) -> Json:
    live, body = changing(request), await body_of(request)
    brain = await live.brain()
    message = body.get("message")
    given = message if isinstance(message, str) else ""
    return Json(await live.change(brain.checkpoint, text_in(body, "name"), given))


async def _unname(request: Request) -> Json:
    live = changing(request)
    brain = await live.brain()
    await live.change(brain.delete_checkpoint, request.path_params["name"])
    return Json({})


ROUTES = (
    Route("/api/history", _history),
    Route("/api/diff", _diff),
    Route("/api/rollback", _rollback, methods=["POST"]),
    Route("/api/resume", _resume, methods=["POST"]),
    Route("/api/look", _look, methods=["POST"]),
    Route("/api/restore", _restore, methods=["POST"]),
    Route("/api/checkpoints", _name, methods=["POST"]),
    Route("/api/checkpoints/{name}", _unname, methods=["DELETE"]),
)
