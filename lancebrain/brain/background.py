"""What a front that stays does besides answering: loading ahead, and following the files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lancebrain.brain.facade import Brain
    from lancebrain.config import Settings
    from lancebrain.errors import LancebrainError
    from lancebrain.sync.worker import Worker
    from lancebrain.types import Problem, Progress, SyncReport

_NEEDED = (
    "lancebrain.search",
    "lancebrain.versions",
    "lancebrain.embedders",
    "lancebrain.sync.worker",
    "lancebrain.brain.detail",
    "lancebrain.brain.state",
    "lancebrain.brain.linking",
)
"""Imported in this order by one thread: where threads import modules that import each other at the
same time, Python breaks the deadlock by handing one of them a module that is not complete."""


def open_ahead(brain: Brain) -> bool:
    """Import and open the index now; whether there is one. It is made if there are sources.

    Raises:
        StoreError: it cannot be opened.
    """
    for name in _NEEDED:
        import_module(name)
    access = brain._access
    if not access.exists:
        access.reload()
        if not access.settings.sources:
            return False
        access.made_store()
    access.store()
    return True


def load_ahead(brain: Brain) -> None:
    """Load the model now instead of at the first question, so that none waits for it.

    Raises:
        EmbedderError: it cannot be loaded.
    """
    brain._access.load_ahead()


def open_to_write(brain: Brain) -> None:
    """Load what writes now instead of at the first edit, if there is an index to write to.

    Raises:
        StoreError: its table cannot be opened.
    """
    access = brain._access
    if access.exists and not access.store().read_only:
        access.store().open_to_write()


def worker_of(
    brain: Brain,
    *,
    on_report: Callable[[SyncReport], None],
    on_error: Callable[[LancebrainError], None],
    on_problem: Callable[[Problem], None],
    give_way: Callable[[], None],
    is_asked: Callable[[], bool],
) -> Worker:
    """What follows the files of an index that exists; run it on the event loop that made it.

    Args:
        on_report: is told of every sync that had something to do.
        on_error: is told what kept a sync from being done.
        on_problem: is told what keeps texts from their vectors.
        give_way: waits while something more urgent is done; called often while much is taken in.
        is_asked: whether questions come, so that commits had better be small.

    Raises:
        IndexNotFoundError, StoreError: the index cannot be opened.
    """
    from lancebrain.sync.worker import Worker

    access = brain._access

    def settings_now() -> Settings:
        if access.exists:  # else its list of sources is away with it
            access.reload()
        return access.settings

    return Worker(
        access.own_engine(),
        reload=settings_now,
        on_report=on_report,
        on_error=on_error,
        on_problem=on_problem,
        give_way=give_way,
        is_asked=is_asked,
    )


def is_read_only(brain: Brain) -> bool:
    """Whether the index may not be written, so that nothing can be followed."""
    return brain._access.store().read_only


def pinned(brain: Brain) -> str | None:
    """What the index is held at, so that no look changes it; None while it follows the files."""
    hold = brain._access.store().hold.read()
    return None if hold is None else hold.ref


def look_now(
    brain: Brain,
    path: str | None,
    *,
    progress: Callable[[Progress], None],
    cancel: threading.Event,
) -> SyncReport:
    """Bring the index up to the files now, beside whoever follows them.

    Args:
        path: a document path or folder of a source; None for everything.
        cancel: when set, it ends after the batch it is at.

    Raises:
        UsageError: the path is in no source.
        IndexNotFoundError, IndexLockedError, EmbedderError, StoreError: as :meth:`Brain.sync`.
    """
    from lancebrain.errors import UsageError

    scope = None
    if path is not None:
        names = [source.name for source in brain.settings.sources]
        if path.partition("/")[0] not in names or ".." in path.split("/"):
            raise UsageError(
                f"{path!r} is in no source.", hint=f"Paths begin with one of: {', '.join(names)}."
            )
        scope = [path.rstrip("/")]
    return brain._access.engine().sync(scope, progress=progress, cancel=cancel)
