"""The state of the index, and what in it asks for somebody's attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.routing import Route

from lancebrain.web.behind import behind, live_of
from lancebrain.web.speaking import Json

if TYPE_CHECKING:
    from starlette.requests import Request

    from lancebrain.brain import Brain

_MOST_DUPLICATES = 100
_SHARED = 0.5
"""Documents on one subject are alike; who has not half of the text in common says it anew."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A document that says what another one says.

    Attributes:
        like: path of the other one.
        shared_text: of it that both have, 0 to 1.
        similarity: of their meanings, as a cosine.
    """

    path: str
    like: str
    shared_text: float
    similarity: float


async def _status(request: Request) -> Json:
    live = live_of(request)
    brain = await live.brain()
    return Json(await live.ask(brain.status))


async def _duplicates(request: Request) -> Json:
    live = live_of(request)
    return Json(await live.ask(behind(request).duplicates.of_now, await live.brain()))


def find_duplicates(brain: Brain, version: int) -> list[Duplicate]:
    """The documents of the newest version that say what another one says, most alike first."""
    rows = brain.analyze.duplicates().table.to_pylist()
    found = [
        Duplicate(row["path"], row["like"], row["shared_text"], row["similarity"])
        for row in rows
        if row["shared_text"] >= _SHARED
    ]
    return sorted(found, key=lambda pair: -pair.shared_text)[:_MOST_DUPLICATES]


ROUTES = (Route("/api/status", _status), Route("/api/duplicates", _duplicates))
