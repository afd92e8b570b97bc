"""Texts of one version that lack a vector, or may be given to a model for another reason."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.types import ChunkText

from .decode import TEXT_COLUMNS, chunk_texts
from .one_version import KEY, Key, OneVersion, keyed
from .schema import CHUNK_ROWS, EMBEDDED_ROWS, PENDING_ROWS, ROW_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .reading import Reading
    from .storage import Storage

_AGE_COLUMNS = {"path": "path", "kind": "kind", "mtime_ns": "doc.mtime_ns"}


class Unembedded(OneVersion):
    """What a version lacks, and what a model is given; see also :class:`OneVersion`."""

    def __init__(
        self, table: Reading, storage: Storage, reopen: Callable[[], Reading] | None
    ) -> None:
        super().__init__(table, storage, reopen)
        self._pending: tuple[object, int] | None = None

    def pending(self) -> int:
        """How many chunks have no vector."""
        if self._pending is None or self._pending[0] != self.identity:
            self._pending = (self.identity, self._count(PENDING_ROWS))
        return self._pending[1]

    def unembedded(self, limit: int, but: Collection[str] = ()) -> list[ChunkText]:
        """Up to ``limit`` chunks without a vector, of the documents that changed last first.

        Chunks without a document row, which the doctor takes out, are not among them.
        Each call looks through all such chunks (60 ms for 100,000), so ask for some thousands.

        Args:
            but: hashes of chunks that are left out.
        """
        return self._newest_first(PENDING_ROWS, but, limit)

    def lacking(self, keys: Collection[Key]) -> dict[Key, str]:
        """The hashes of those of some chunks that have no vector."""
        there = keyed(self._scan(PENDING_ROWS, [*KEY, "chunk_hash"]), "chunk_hash")
        wanted = set(keys)
        return {key: chunk_hash for key, chunk_hash in there if key in wanted}

    def chunks_without(self, hashes: Collection[str], limit: int) -> list[ChunkText]:
        """The same of chunks whose hash is not among these, whatever vector they have."""
        return self._newest_first(CHUNK_ROWS, hashes, limit)

    def pending_hashes(self) -> set[str]:
        """The hashes of all chunks without a vector."""
        return set(pc.unique(self._scan(PENDING_ROWS, ["chunk_hash"])["chunk_hash"]).to_pylist())

    def embedded_hashes(self) -> set[str]:
        """The hashes of all chunks that have a vector."""
        rows = self._scan(EMBEDDED_ROWS, ["chunk_hash"])
        return set(pc.unique(rows["chunk_hash"]).to_pylist())

    def chunk_hashes(self) -> set[str]:
        """The hashes of all chunks."""
        return set(pc.unique(self._scan(CHUNK_ROWS, ["chunk_hash"])["chunk_hash"]).to_pylist())

    def sample(self, limit: int) -> list[ChunkText]:
        """Some chunks of different texts, the same ones each time and otherwise at random."""

        def some() -> NDArray[np.uint64]:
            rows, _ = self._with_document(CHUNK_ROWS)
            hashes = rows["chunk_hash"].to_pylist()
            row_of = dict(zip(hashes, rows[ROW_ID].to_pylist(), strict=True))
            chosen = sorted(row_of)[:limit]  # what a hash begins with means nothing
            return np.array([row_of[chunk_hash] for chunk_hash in chosen], np.uint64)

        return self._texts(some)

    def _newest_first(self, where: str, but: Collection[str], limit: int) -> list[ChunkText]:
        def newest() -> NDArray[np.uint64]:
            rows, mtimes_ns = self._with_document(where)
            known = pc.is_in(rows["chunk_hash"], pa.array(list(but), pa.string()))
            is_wanted = pc.invert(known)
            rows, mtimes_ns = rows.filter(is_wanted), mtimes_ns[is_wanted.to_numpy()]
            paths = rows["path"].combine_chunks().dictionary_encode().indices.to_numpy()
            order = np.lexsort((rows["chunk_index"].to_numpy(), paths, -mtimes_ns))[:limit]
            ids: NDArray[np.uint64] = rows[ROW_ID].to_numpy()[order]
            return ids

        return self._texts(newest)

    def _texts(self, choose: Callable[[], NDArray[np.uint64]]) -> list[ChunkText]:
        """The texts of rows by their ids, in this order."""
        while True:
            before = self.identity
            ids = choose()
            taken = self._take(ids.tolist(), [*TEXT_COLUMNS, ROW_ID])
            if self.identity == before:  # else ids of one version were asked of another
                return chunk_texts(_in_order(taken, ids))

    def _with_document(self, where: str) -> tuple[pa.Table, NDArray[np.int64]]:
        """Keys, hashes and ids of chunks that have a document row, and when the file changed."""
        documents = self._document_rows(None, _AGE_COLUMNS)
        rows = self._scan(where, [*KEY, "chunk_hash", ROW_ID])
        places = pc.index_in(rows["path"], documents["path"])
        mtimes_ns = documents["mtime_ns"].to_numpy()
        return rows.filter(pc.is_valid(places)), mtimes_ns[places.drop_null().to_numpy()]


def _in_order(rows: pa.Table, ids: NDArray[np.uint64]) -> pa.Table:
    """Rows in the order of their ids."""
    there = rows[ROW_ID].to_numpy()
    sorted_by_id = np.argsort(there)
    return rows.take(sorted_by_id[np.searchsorted(there[sorted_by_id], ids)])
