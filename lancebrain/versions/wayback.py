"""The checkpoint that is made before something is done, and goes again if that fails."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime

from lancebrain.store import Checkpoint, Checkpoints, Store


def name_way_back(
    store: Store, before: str, version: int, *, now: datetime, undo: ExitStack
) -> Checkpoint:
    """Name a version, unless it has a name already; the caller holds the lock.

    Args:
        before: what is about to be done, such as ``rollback``.
        undo: is told how to take the name away.
    """
    checkpoints = Checkpoints(store)
    there = {checkpoint.name for checkpoint in checkpoints.all()}
    checkpoint = checkpoints.create_automatic(before, version, at=now)
    if checkpoint.name not in there:
        undo.callback(checkpoints.delete, checkpoint.name)
    return checkpoint
