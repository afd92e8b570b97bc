"""What goes on beside the answers of a server, begun with it and ended with it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

from lancebrain.service.live import RETRY_S, Live

_L = TypeVar("_L", bound=Live)

log = logging.getLogger("lancebrain.service")


async def _kept_up(task: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a task; a mistake of ours in it is logged and does not end the server."""
    while True:
        try:
            return await task()
        except Exception:
            log.exception("A task beside the answers failed; it begins again")
        await anyio.sleep(RETRY_S)


@asynccontextmanager
async def running(live: _L, *others: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[_L]:
    """An index at work in the background, until the block ends; one that is already, is left to it.

    Args:
        others: tasks beside it.
    """
    if live.is_running:
        yield live
        return
    async with anyio.create_task_group() as tasks:
        live.is_running = True
        for task in (live.run, *others):
            tasks.start_soon(_kept_up, task)
        try:
            yield live
        finally:
            live.is_running = False
        tasks.cancel_scope.cancel()
