"""Builds the server: all tools, resources and prompts around one app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server import MCPServer

from lancebrain import __version__
from lancebrain.errors import LancebrainError
from lancebrain.mcp_server import (
    asking,
    keeping,
    prompts,
    reading,
    resources,
    returning,
    writing,
)
from lancebrain.mcp_server.admission import admit
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.introduction import FILE_NAME, introduction, remembered
from lancebrain.mcp_server.notifier import Notifier
from lancebrain.mcp_server.plainly import PlainServer
from lancebrain.mcp_server.sharing import Sharing
from lancebrain.service.running import running

if TYPE_CHECKING:
    from lancebrain.brain import Brain

_TITLE = "LanceBrain: the user's own knowledge"
_REFRESH_S = 60.0


def build(
    brain: Brain | LancebrainError,
    *,
    read_only: bool = False,
    follow: bool = True,
    sharing: Sharing | None = None,
    **more: Any,
) -> MCPServer[App]:
    """A server for one index; nothing is opened before it runs.

    Args:
        brain: the facade; or why there is none, which every tool then tells.
        read_only: without the tools that write notes or go back.
        follow: keep the index equal to the files.
        sharing: take in other servers of the index; None to be alone.
        more: passed on, such as what HTTP needs.
    """
    notifier = Notifier()
    app = App(brain, read_only=read_only, follow=follow, notifier=notifier)

    @asynccontextmanager
    async def lifespan(served: MCPServer[App]) -> AsyncIterator[App]:
        async def introduce() -> None:
            await _keep_introduced(app, served)

        async def tell() -> None:
            await resources.tell_subscribers(app)

        async def share() -> None:
            if sharing is not None and not isinstance(brain, LancebrainError):
                await admit(served, sharing)

        async with running(app, tell, introduce, share):
            yield app

    said = None if isinstance(brain, LancebrainError) else remembered(brain.settings.index)
    server = PlainServer(
        "lancebrain",
        title=_TITLE,
        version=__version__,
        instructions=said or introduction(None, read_only=read_only),
        lifespan=lifespan,
        subscriptions=notifier.bus,
        middleware=[notifier.middleware],
        log_level="WARNING",
        **more,
    )
    asking.register(server)
    reading.register(server)
    keeping.register(server)
    returning.register_history(server)
    if not read_only:
        writing.register(server)
        returning.register_rollback(server)
    resources.register(server, app)
    prompts.register(server, app)
    notifier.attach(server)
    return server


async def _keep_introduced(app: App, server: MCPServer[App]) -> None:
    """Keep what new clients are told up to the index, and beside it for the next server."""
    await app.opened()
    while True:
        try:
            brain = await app.brain()
            text = await app.ask(_introduction, app, brain)
            if text != server.instructions:
                Notifier.introduce(server, text)
        except LancebrainError:
            pass  # there is nothing to tell of yet
        await anyio.sleep(_REFRESH_S)


def _introduction(app: App, brain: Brain) -> str:
    from lancebrain.brain.authoring import writable_sources
    from lancebrain.brain.vocabulary import vocabulary_of
    from lancebrain.config.atomic import write_atomically

    writable = [source.name for source in writable_sources(brain)]
    text = introduction(vocabulary_of(brain), read_only=app.read_only, writable=writable)
    index = brain.settings.index
    if remembered(index) != text:
        with suppress(OSError):  # it is made anew then, as now
            write_atomically(index / FILE_NAME, text)
    return text
