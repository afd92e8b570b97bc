"""The few things about an index that a front keeps an eye on; cheap enough to ask every second."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lancebrain.brain.facade import Brain


@dataclass(frozen=True, slots=True)
class Pulse:
    """Where the index is now.

    Attributes:
        table: another one holds another table, whose versions count anew.
        version: the newest, whoever made it.
        pinned, pinned_at: as in :class:`lancebrain.types.Status`.
        pending: chunks that cannot be found by meaning yet.
    """

    table: str
    version: int
    pinned: str | None
    pinned_at: datetime | None
    pending: int
    documents: int
    chunks: int


def pulse_of(brain: Brain, last: Pulse | None = None) -> Pulse:
    """Feel it.

    Args:
        last: what was felt before; if it is so still, nothing is counted.

    Raises:
        IndexNotFoundError, StoreError: the index cannot be read.
    """
    store = brain._access.store()
    snapshot = store.snapshot()
    hold = store.hold.read()
    table, version = snapshot.info.table_id, snapshot.version
    ref, held_at = (None, None) if hold is None else (hold.ref, hold.at)
    if last is not None and (table, version, ref) == (last.table, last.version, last.pinned):
        return last
    return Pulse(
        table=table,
        version=version,
        pinned=ref,
        pinned_at=held_at,
        pending=snapshot.pending(),
        documents=snapshot.document_count(),
        chunks=snapshot.chunk_count(),
    )
