"""How many of the nearest chunks the vector index finds, by comparing with every vector.

Maintenance checks it whenever it has built the index, and notes it beside the table.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from .failures import translated
from .snapshot import Snapshot
from .storage import Where, storage_of

ENOUGH = 0.95
_FILE = "recall.json"
_QUESTIONS = 10
"""Each compares all vectors, which takes 1.4 s where there are a million."""
_NEAREST = 10


@dataclass(frozen=True, slots=True)
class Recall:
    """What a check found.

    Attributes:
        share: of the nearest ten chunks that the index found, over all questions.
        vectors: that there were.
        version: that was asked.
    """

    share: float
    vectors: int
    version: int


class RecallNote:
    """The last check of one index; losing it costs nothing."""

    def __init__(self, where: Where) -> None:
        self._storage = storage_of(where)

    def read(self) -> Recall | None:
        """The last check; None where there was none."""
        with translated(self._storage, "reading the recall of its vector index"):
            content = self._storage.read(_FILE)
        try:
            return Recall(**json.loads(content or b""))
        except (ValueError, TypeError):
            return None

    def clear(self) -> None:
        """Begin anew, for a new table, or one without a vector index."""
        with translated(self._storage, "dropping the recall of its vector index"):
            self._storage.remove(_FILE)

    def write(self, recall: Recall) -> None:
        """Note a check; the caller holds the lock."""
        self._storage.write(_FILE, json.dumps(asdict(recall)))


def check_recall(snapshot: Snapshot) -> Recall | None:
    """Ask for the neighbours of some chunks, by the index and without; None without vectors."""
    found = asked = 0
    for row_id, vector in snapshot.some_vectors(_QUESTIONS).items():
        by_index, nearest = (
            snapshot.nearest(vector, _NEAREST + 1, exact=exact) - {row_id}
            for exact in (False, True)
        )
        found += len(by_index & nearest)
        asked += len(nearest)
    if not asked:
        return None
    return Recall(found / asked, snapshot.chunk_count() - snapshot.pending(), snapshot.version)
