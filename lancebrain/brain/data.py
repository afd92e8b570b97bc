"""The part of the facade that gives the index as data: Arrow, pandas, Polars, SQL, vectors.

No model is loaded for any of it, and no file is looked at: it is the index as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from lancebrain.types import Filter

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from lancebrain.brain.analyses import Analyses
    from lancebrain.store import Snapshot

_T = TypeVar("_T")
_KEY = ("path", "chunk_index")


class Data:
    """Tables of one version, for other programs and for analysis.

    ``chunks`` has a row a chunk, in the order of the documents, with the columns of
    :data:`lancebrain.analysis.chunks.COLUMNS`; ``documents`` a row a document, with those of
    :data:`lancebrain.analysis.documents.COLUMNS`.

    Every method raises IndexNotFoundError where nothing was indexed yet, and those that need
    pandas, Polars or DuckDB a LancebrainError where ``lancebrain[data]`` is not installed.
    """

    if TYPE_CHECKING:

        def _snapshot(self, at: str | None) -> Snapshot: ...

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        *,
        filter: Filter | None = None,
        vectors: bool = False,
    ) -> pa.Table:
        """The chunks.

        Args:
            columns: names; all by default.
            filter: which chunks; all by default.
            vectors: add the column ``vector``: lists of float32 of one length, in one piece;
                null where a chunk is not embedded yet.

        Raises:
            UsageError: there is no such column.
        """
        from lancebrain.analysis.chunks import COLUMNS, VECTOR, read_chunks

        names = [*(COLUMNS if columns is None else columns), *([VECTOR] if vectors else ())]
        return self._steady(lambda snapshot: read_chunks(snapshot, filter or Filter(), names))

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        *,
        filter: Filter | None = None,
        vectors: bool = False,
    ) -> pd.DataFrame:
        """The chunks as a DataFrame of pandas; see :meth:`to_arrow`."""
        from lancebrain.analysis.extras import require

        require("pandas")
        return self.to_arrow(columns, filter=filter, vectors=vectors).to_pandas()

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        *,
        filter: Filter | None = None,
        vectors: bool = False,
    ) -> pl.DataFrame:
        """The chunks as a DataFrame of Polars; see :meth:`to_arrow`."""
        from lancebrain.analysis.extras import require

        polars = require("polars")
        table = self.to_arrow(columns, filter=filter, vectors=vectors)
        frame: pl.DataFrame = polars.from_arrow(table)
        return frame

    def documents(
        self, columns: Sequence[str] | None = None, *, filter: Filter | None = None
    ) -> pa.Table:
        """The documents, by path; also those without any chunk.

        Args:
            columns: names; all by default.
            filter: those of which it lets anything pass; all by default.

        Raises:
            UsageError: there is no such column.
        """
        from lancebrain.analysis.documents import COLUMNS, read_documents

        names = COLUMNS if columns is None else columns
        return self._steady(lambda snapshot: read_documents(snapshot, filter or Filter(), names))

    def vectors(
        self, columns: Sequence[str] = _KEY, *, filter: Filter | None = None
    ) -> tuple[pa.Table, NDArray[np.float32]]:
        """The chunks that have a vector, and their vectors.

        Args:
            columns: of the chunks, as for :meth:`to_arrow`.
            filter: which chunks; all by default.

        Returns:
            A row a chunk, and (n, dim) float32 of length 1, row by row: written once, straight
            from the reader.

        Raises:
            UsageError: there is no such column.
        """
        from lancebrain.analysis.chunks import read_vectors

        return self._steady(lambda snapshot: read_vectors(snapshot, filter or Filter(), columns))

    def projection(
        self, columns: Sequence[str] = _KEY, *, filter: Filter | None = None
    ) -> tuple[pa.Table, NDArray[np.float32]]:
        """The chunks that have a vector, and their places on a map: what is alike lies together.

        Args:
            columns, filter: as for :meth:`vectors`.

        Returns:
            A row a chunk, and (n, 2) float32 within -1 and 1, row by row; the same for the same
            vectors.
        """
        from lancebrain.analysis.projection import project

        chunks, vectors = self.vectors(columns, filter=filter)
        return chunks, project(vectors)

    def sql(
        self,
        query: str,
        parameters: Sequence[object] | Mapping[str, object] = (),
        **tables: object,
    ) -> pa.Table:
        """The rows that a query gives, in DuckDB's SQL.

        Args:
            query: over ``chunks`` and ``documents``. ``chunks`` has the column ``vector`` only
                if the query names it.
            parameters: for ``?`` or ``$name`` in the query.
            tables: more of them, by name: Arrow tables or DataFrames.

        Raises:
            UsageError: the query cannot be run.
        """
        from lancebrain.analysis.query import names, run_sql

        own = {
            "chunks": lambda: self.to_arrow(vectors=names(query, "vector")),
            "documents": self.documents,
        }
        return run_sql(query, parameters, own, tables)

    @property
    def analyze(self) -> Analyses:
        """Ready analyses: ``brain.analyze.topics()`` and so on."""
        from lancebrain.brain.analyses import Analyses

        return Analyses(self._steady, self._snapshot)

    def _steady(self, read: Callable[[Snapshot], _T]) -> _T:
        """What is read of one version, also where it takes several reads."""
        while True:
            snapshot = self._snapshot(None)
            before = snapshot.identity
            result = read(snapshot)
            # A version whose data vanished under it moves to the newest: what was read before
            # the move is of another one.
            if snapshot.identity == before:
                return result
