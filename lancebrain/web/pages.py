"""The application: the shell and its files for everyone, the index for who has the cookie.

The shell is one page for all addresses of the page; what an address shows is decided in the
browser.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from lancebrain.errors import LancebrainError
from lancebrain.service.live import Live
from lancebrain.service.running import running
from lancebrain.web import documents, health, heart, mapping, searching, timeline
from lancebrain.web.assets import SHELL, load_assets
from lancebrain.web.behind import Behind, behind
from lancebrain.web.gate import Gate, Keys
from lancebrain.web.heart import Heart
from lancebrain.web.kept import Kept
from lancebrain.web.speaking import tell_error

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from lancebrain.brain import Brain

VIEWS = ("/", "/timeline", "/map", "/health")


def build(
    brain: Brain | LancebrainError,
    *,
    keys: Keys,
    port: int,
    read_only: bool = False,
    follow: bool = True,
) -> ASGIApp:
    """A server of the page for one index; nothing is opened before it runs.

    Args:
        brain: the facade; or why there is none, which the page then tells.
        port: that it listens on.
        read_only: without going back, restoring and naming.
        follow: keep the index equal to the files.
    """
    live = Live(brain, follow=follow)
    beating = Heart(live, read_only=read_only)
    everything = Behind(
        live=live,
        heart=beating,
        map=Kept(mapping.draw_map),
        duplicates=Kept(health.find_duplicates),
        keys=keys,
        assets=load_assets(),
        read_only=read_only,
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        live.begin()
        async with running(live, beating.run):
            yield

    app = Starlette(
        routes=[
            *(Route(view, _shell) for view in VIEWS),
            Route("/static/{name:path}", _asset),
            *searching.ROUTES,
            *documents.ROUTES,
            *timeline.ROUTES,
            *health.ROUTES,
            *mapping.ROUTES,
            *heart.ROUTES,
        ],
        lifespan=lifespan,
        exception_handlers={
            LancebrainError: tell_error,
            HTTPException: tell_error,
            Exception: tell_error,
        },
    )
    app.state.behind = everything
    return Gate(app, keys=keys, port=port)


async def _shell(request: Request) -> Response:
    """The page; with the token of a link, the cookie, and the same address without the token."""
    token = request.query_params.get("token")
    if token is None:
        return behind(request).assets[SHELL].response(request)
    keys = behind(request).keys
    if not keys.opens_link(token):
        return PlainTextResponse(
            "This link is of another index or another computer. `lancebrain ui` prints the right "
            "one.\n",
            403,
        )
    url = request.url.remove_query_params("token")
    place = f"{url.path}?{url.query}" if url.query else url.path
    return RedirectResponse(place, 303, headers={"Set-Cookie": keys.set_cookie})


async def _asset(request: Request) -> Response:
    asset = behind(request).assets.get(request.path_params["name"])
    if asset is None:
        raise HTTPException(404, "There is no such file.")
    return asset.response(request)
