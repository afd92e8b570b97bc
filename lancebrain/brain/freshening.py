"""The look before an answer: small, quick, and never a reason for no answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from lancebrain.brain.access import Access
from lancebrain.brain.looking import Looking
from lancebrain.errors import LancebrainError, ModelUnavailableError, TextsRefusedError

if TYPE_CHECKING:
    from lancebrain.sync.run import Run
    from lancebrain.types import Answer

_LOCK_TIMEOUT_S = 2.0
"""Whoever holds the lock for longer is syncing anyway."""
_BUDGET_S = 5.0
"""What is not taken in by then waits for the next look, or for a sync."""
_FEW_PENDING = 100


def freshen(access: Access, looking: Looking, *, text_only: bool) -> tuple[str, ...]:
    """Take in what changed on disk since the last look.

    Args:
        text_only: load no model; vectors of what changed follow later.

    Returns:
        Sentences about what may be missing from an answer now.
    """
    due = looking.due()
    if due == () or not access.settings.sources:
        return looking.notes
    try:
        notes = _look(access, due, text_only=text_only)
    except LancebrainError as error:
        notes = (f"Changes on disk may be missing. {error.message}",)
    if due is None:
        # Until the next such look: these answers lack the same.
        looking.looked(notes)
    elif notes:
        looking.mark(due)
    return tuple(dict.fromkeys((*looking.notes, *notes)))


def _look(access: Access, due: Sequence[str] | None, *, text_only: bool) -> tuple[str, ...]:
    from lancebrain.sync import Wanted

    store = access.store()
    engine = access.engine(lock_timeout_s=_LOCK_TIMEOUT_S)
    deadline = time.monotonic() + _BUDGET_S
    run = engine.run(Wanted(scope=due, dry_run=store.read_only, text_only=text_only))
    for _ in run.steps():
        if time.monotonic() > deadline:
            break
    if store.read_only:
        return _told_unwritten(run)
    if not run.is_done:
        return ("Not all that changed was taken in before this answer: lancebrain sync",)
    if not text_only and 0 < store.snapshot().pending() <= _FEW_PENDING:
        # The search itself tells of a model that is not there, and counts what has no vector.
        lacking = (ModelUnavailableError, TextsRefusedError)
        with suppress(*lacking), closing(engine.backfill_steps()) as steps:
            for _ in steps:
                if time.monotonic() > deadline:
                    break
    return ()


def doubted(answer: Answer) -> tuple[str, ...] | None:
    """What an answer shows to be not as it is on disk, see :meth:`Looking.doubt`."""
    from lancebrain.search.legs import NOWHERE

    if not answer.hits or any(note.startswith(NOWHERE) for note in answer.notes):
        return None
    return tuple({hit.path for hit in answer.hits if hit.freshness == "changed"})


def _told_unwritten(run: Run) -> tuple[str, ...]:
    """What an index lacks that may only be read."""
    report = run.report()
    count = report.added + report.changed + report.moved + report.removed
    if run.is_done and not count:
        return ()
    told = "one change of the files" if count == 1 else f"{count} changes of the files"
    return (
        f"The index may not be written, and {'' if run.is_done else 'at least '}{told} since its "
        f"last sync {'is' if count == 1 else 'are'} missing here.",
    )
