"""What one commit is to hold, gathered before its vectors are known.

The collector adds documents; the engine finds the vectors and turns the batch into rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lancebrain.chunking import embedding_text_of
from lancebrain.store import RowBatch
from lancebrain.types import DOCUMENT_ROW, DocumentState

from .planner import ChunkPlan, Write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Row:
    state: DocumentState
    write: Write
    created_at: datetime
    updated_at: datetime


class Batch:
    """Documents of one commit, whole ones only.

    Args:
        now_ns: the wall clock; ``created_at`` of new rows.

    Attributes:
        counts: of documents (``added``, ``changed``, ``moved``, ``removed``) and of rows
            (``rows_written``, ``rows_deleted``).
        dropped: hashes of chunks that this commit takes out of a document.
        documents: document rows to write.
        left: paths of documents to remove; one may be written all the same, moved from elsewhere.
    """

    def __init__(self, now_ns: int) -> None:
        self.counts: Counter[str] = Counter()
        self.dropped: set[str] = set()
        self._now = _time(now_ns)
        self.documents: list[DocumentState] = []
        self.left: list[str] = []
        self._refreshed: list[DocumentState] = []
        self._chunks: list[_Row] = []
        self._tombstones: list[tuple[str, int]] = []

    def __len__(self) -> int:
        """Rows to write or remove."""
        return len(self.documents) + len(self._chunks) + len(self._tombstones)

    def document(self, state: DocumentState, plan: ChunkPlan) -> None:
        """A document's own row, and the changes to its chunks.

        A chunk's ``updated_at`` is the file's modification time, when its text changed with it.
        """
        changed_at = min(_time(state.mtime_ns), self._now)
        self.documents.append(state)
        for write in plan.writes:
            origin = write.origin
            same_text = origin is not None and origin.chunk.text == write.chunk.text
            self._chunks.append(
                _Row(
                    state,
                    write,
                    created_at=origin.created_at if origin else self._now,
                    updated_at=origin.updated_at if origin and same_text else changed_at,
                )
            )
        self._remove(state.path, plan.removed)
        self.dropped |= plan.dropped_hashes
        self.counts["rows_written"] += 1 + len(plan.writes)

    def leave(self, path: str, numbers: Sequence[int], dropped: Iterable[str]) -> None:
        """Remove a document.

        Args:
            numbers: of all its chunk rows.
            dropped: hashes of the chunks that go with it; none of those that move elsewhere.
        """
        self.left.append(path)
        self._remove(path, [DOCUMENT_ROW, *numbers])
        self.dropped.update(dropped)

    def refresh(self, state: DocumentState) -> None:
        """A document row that only tells of a newer look; it goes along if others go."""
        self._refreshed.append(state)

    def take_refreshed(self) -> None:
        """Write the document rows that only tell of a newer look."""
        self.documents += self._refreshed
        self.counts["rows_written"] += len(self._refreshed)
        self._refreshed = []

    @property
    def refreshable(self) -> Sequence[DocumentState]:
        """Document rows that only tell of a newer look and are not taken yet."""
        return self._refreshed

    def hashes(self) -> list[str]:
        """Chunk hashes of the rows to write, one a row."""
        return [row.write.chunk.chunk_hash for row in self._chunks]

    def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        """Chunk hash → embedding text, for the rows with one of these hashes."""
        wanted = set(hashes)
        return {
            row.write.chunk.chunk_hash: embedding_text_of(row.state.kind, row.write.chunk)
            for row in self._chunks
            if row.write.chunk.chunk_hash in wanted
        }

    def rows(self, vectors: Mapping[str, NDArray[np.float32]]) -> RowBatch:
        """The rows, with the vectors there are."""
        rows = RowBatch()
        for path, chunk_index in self._tombstones:
            rows.tombstone(path, chunk_index)
        for state in self.documents:
            rows.document(state)
        for row in self._chunks:
            chunk = row.write.chunk
            rows.chunk(
                row.state,
                row.write.chunk_index,
                chunk,
                vectors.get(chunk.chunk_hash),
                row.created_at,
                row.updated_at,
            )
        return rows

    def _remove(self, path: str, indexes: Sequence[int]) -> None:
        self._tombstones += [(path, chunk_index) for chunk_index in indexes]
        self.counts["rows_deleted"] += len(indexes)


def _time(ns: int) -> datetime:
    """A wall clock in nanoseconds as a time, not before 1970."""
    return _EPOCH + timedelta(microseconds=max(ns, 0) // 1000)
