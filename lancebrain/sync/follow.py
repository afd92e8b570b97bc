"""The worker for those without an event loop: reports, one after the other, as they come."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from lancebrain.errors import LancebrainError
from lancebrain.types import Problem, SyncReport

from .worker import Worker

if TYPE_CHECKING:
    from lancebrain.config import Settings

    from .engine import Engine

_ASK_S = 0.1


def follow(
    engine: Engine, stop: threading.Event, *, reload: Callable[[], Settings] | None = None
) -> Iterator[SyncReport]:
    """Sync what changes until ``stop`` is set; what could not be done is told as a problem.

    Args:
        engine: nobody else may use it meanwhile.
        reload: gives the settings as they are now.

    Yields:
        A report for each sync that had something to do.
    """
    reports: queue.SimpleQueue[SyncReport | None] = queue.SimpleQueue()

    def failed(error: LancebrainError) -> None:
        told(Problem("", "sync-failed", f"It will be tried again: {error}"))

    def told(problem: Problem) -> None:
        reports.put(SyncReport(version=engine.store.version, problems=(problem,)))

    async def work() -> None:
        worker = Worker(
            engine, reload=reload, on_report=reports.put, on_error=failed, on_problem=told
        )
        running = asyncio.create_task(worker.run())
        while not stop.is_set() and not running.done():
            await asyncio.sleep(_ASK_S)
        worker.stop()
        await running

    with ThreadPoolExecutor(1, thread_name_prefix="lancebrain-sync") as pool:
        following = pool.submit(lambda: asyncio.run(work()))
        following.add_done_callback(lambda _: reports.put(None))
        try:
            while (report := reports.get()) is not None:
                yield report
            following.result()
        finally:
            stop.set()
