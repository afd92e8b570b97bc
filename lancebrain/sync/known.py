"""What the table knows of every document, kept between syncs, so that a look need not read it.

Read anew whenever another version is there than the one this process left. Kept as columns, since
a look compares the numbers of all documents, and asks for the rows of few.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lancebrain.store import DocumentStat, Snapshot
from lancebrain.types import DocumentState, SourceFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEWER = -1
_NUMBERS = ("size", "mtime_ns", "ctime_ns", "looked_at_ns")
_numbers_of = itemgetter(slice(3, 6))
"""Size and both times of a :class:`SourceFile`."""
_FEW_ROWS = 200
"""More are made all at once, in the time of these."""
_FEW_PLACES = 8
"""More are looked up folder by folder instead of one by one."""


class Documents(Mapping[str, DocumentStat]):
    """The document rows of one version, by path, and of what was committed since.

    Args:
        table: see :meth:`Snapshot.stat_table`.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._rows = dict(zip(table["path"].to_pylist(), range(table.num_rows), strict=True))
        self._newer: dict[str, DocumentStat] = {}
        self._asked = 0

    def __getitem__(self, path: str) -> DocumentStat:
        row = self._rows[path]
        if row == _NEWER:
            return self._newer[path]
        self._asked += 1
        return self._stat(row) if self._asked < _FEW_ROWS else self._stats[row]

    def __contains__(self, path: object) -> bool:
        return path in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, path: str, stat: DocumentStat) -> None:
        """Follow the commit of a document."""
        self._rows[path] = _NEWER
        self._newer[path] = stat

    def drop(self, path: str) -> None:
        """Follow the removal of a document."""
        self._rows.pop(path, None)
        self._newer.pop(path, None)

    def surely_unchanged(
        self,
        files: Sequence[SourceFile],
        is_read_so: Callable[[str, DocumentStat], bool],
        is_settled: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    ) -> NDArray[np.bool_]:
        """Of each file whether it surely is as its document's row says: all at once, in a tenth
        of the time of one by one. The others may be, too.

        Args:
            is_read_so: tells of a document path and its row whether it would be read today as
                it was; depends on the path's extension and on no number of the row.
            is_settled: tells of (n, 4) numbers, as in :data:`_NUMBERS`, whether the file was as it
                is for long enough before it was looked at.
        """
        count = len(files)
        if not self._table.num_rows:
            return np.zeros(count, bool)
        paths = [file.path for file in files]
        rows = np.fromiter(map(self._rows.get, paths, repeat(_NEWER)), np.int64, count)
        numbers = chain.from_iterable(map(_numbers_of, files))
        seen = np.fromiter(numbers, np.int64, 3 * count).reshape(count, 3)
        known = self._numbers[rows]
        unchanged: NDArray[np.bool_] = (
            (rows != _NEWER) & (known[:, :3] == seen).all(axis=1) & is_settled(known)
        )
        classes, examples = self._classes
        agreed = np.array([is_read_so(path, self._stat(row)) for path, row in examples], bool)
        unchanged &= agreed[classes[rows]]
        return unchanged

    @cached_property
    def _stats(self) -> list[DocumentStat]:
        columns = (self._table[name].to_pylist() for name in DocumentStat._fields)
        return list(map(DocumentStat._make, zip(*columns, strict=True)))

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """(documents, 4) as in :data:`_NUMBERS`."""
        return np.column_stack([self._table[name].to_numpy() for name in _NUMBERS])

    @cached_property
    def _classes(self) -> tuple[NDArray[np.intp], list[tuple[str, int]]]:
        """Documents of one extension, kind, media type and domain are of one class: the class of
        each row, and of each class a path and its row."""
        paths = self._table["path"].to_pylist()
        extensions = pa.array([path[path.rfind(".") :] for path in paths], pa.string())
        rest = (self._table[name].combine_chunks() for name in ("kind", "mime", "domain"))
        codes = np.zeros(len(paths), np.int64)
        for column in (extensions, *rest):
            encoded = column.dictionary_encode()
            codes = codes * len(encoded.dictionary) + encoded.indices.to_numpy()
        _, examples, classes = np.unique(codes, return_index=True, return_inverse=True)
        return classes, [(paths[row], row) for row in examples.tolist()]

    def _stat(self, row: int) -> DocumentStat:
        return DocumentStat._make(self._table[name][row].as_py() for name in DocumentStat._fields)


class KnownDocuments:
    """The document rows of the newest version; to be asked and told under the index lock."""

    def __init__(self) -> None:
        self._table_id = ""
        self._version = 0
        self._identity: Hashable | None = None
        self._documents: Documents | None = None

    def has(self, path: str) -> bool:
        """Whether there was a document of this path; to be asked at any time."""
        return self._documents is not None and path in self._documents

    def at(self, snapshot: Snapshot, table_id: str) -> Documents:
        """Those of a version; valid until the next commit.

        Args:
            table_id: of the table, as versions of another count from 1 again.
        """
        # Its number alone may be that of another, after versions that a power cut tore.
        is_newest = (table_id, snapshot.identity) == (self._table_id, self._identity)
        if self._documents is None or self._identity is None or not is_newest:
            self._table_id = table_id
            self._documents = Documents(snapshot.stat_table())
            self._version, self._identity = snapshot.version, snapshot.identity
        return self._documents

    def committed(
        self,
        version: int,
        identity: Hashable | None,
        written: Iterable[DocumentState],
        removed: Iterable[str],
    ) -> None:
        """Follow a commit that was made on top of the version that was asked for last.

        Args:
            version, identity: of the new version.
        """
        if self._documents is None or version != self._version + 1:
            return
        for path in removed:
            self._documents.drop(path)
        for state in written:
            values = (getattr(state, name) for name in DocumentStat._fields)
            self._documents.put(state.path, DocumentStat._make(values))
        self._version, self._identity = version, identity


def under(paths: Iterable[str], places: Collection[str]) -> list[str]:
    """The documents that are at one of the places or in a folder there."""
    if not places:
        return []
    exact = set(places)
    folders = tuple(f"{path}/" for path in places)
    if len(folders) <= _FEW_PLACES:
        return [path for path in paths if path.startswith(folders) or path in exact]
    return [path for path in paths if not exact.isdisjoint(_around(path))]


def _around(path: str) -> Iterator[str]:
    """A document's path, and those of the folders that it is in."""
    yield path
    while "/" in path:
        path = path[: path.rindex("/")]
        yield path
