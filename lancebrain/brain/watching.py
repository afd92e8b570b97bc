"""Following changes as they happen: events say where to look, and the look decides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from lancebrain.brain.access import Access
from lancebrain.brain.looking import Looking
from lancebrain.brain.roots import document_path_of
from lancebrain.errors import IndexLockedError
from lancebrain.types import SyncReport

_QUIET_MS = 100
_BURST_MS = 1_000


def follow(access: Access, looking: Looking, stop: threading.Event) -> Iterator[SyncReport]:
    """Sync what changes until ``stop`` is set; a report for each sync that had something to do.

    Events may get lost, so everything is looked at now and then as well.

    Args:
        looking: how often that is, and what an index that was locked has left to do.
    """
    import watchfiles

    settings = access.settings
    roots = [source.root for source in settings.sources if source.root.is_dir()]
    events = watchfiles.watch(
        *roots,
        watch_filter=None,
        debounce=_BURST_MS,
        step=_QUIET_MS,
        stop_event=stop,
        rust_timeout=max(_BURST_MS, int(settings.look_interval_s * 1000)),
        yield_on_timeout=True,
        force_polling=settings.use_polling or None,
        ignore_permission_denied=True,
    )
    for changes in events:
        looking.mark(_documents(access, (Path(name) for _, name in changes)))
        due = looking.due()
        if due == ():
            continue
        try:
            report = access.engine().sync(due)
        except IndexLockedError:
            looking.mark(due or ())
            continue
        if report.rows_written or report.rows_deleted or report.embedded or report.problems:
            yield report


def _documents(access: Access, files: Iterator[Path]) -> Iterator[str]:
    for file in files:
        if file.is_relative_to(access.settings.index):
            continue
        path = document_path_of(access.settings.sources, file)
        if path is not None:
            yield path
