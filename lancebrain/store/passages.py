"""Chunks as an answer shows them: with their place, and what is shown of their documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.types import DOCUMENT_ROW

from . import filters
from .locations import Location, locate
from .one_version import KEY, Key, batches, keyed
from .schema import ROW_ID

if TYPE_CHECKING:
    from .reading import Reading

_KEPT_CHUNKS = 1_000
"""Some megabytes."""
_SHOWN_DOCUMENT = {name: name for name in ("path", "source", "domain", "kind")} | {
    name: f"doc.{name}" for name in ("title", "size", "mtime_ns", "ctime_ns", "sha256")
}
_SHOWN_CHUNK = ("heading_path", "role", "said_at")
_THERE = (*KEY, "line_count", ROW_ID)


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """What tells a person of a document, and whether its file is unchanged."""

    path: str
    source: str
    domain: str
    kind: str
    title: str
    size: int
    mtime_ns: int
    ctime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """What is shown of a chunk."""

    text: str
    heading_path: tuple[str, ...]
    role: str | None
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class Passages:
    """What is shown of some chunks.

    Attributes:
        documents: by path, of the documents they are in.
        chunks, places: by key (path, chunk_index).
    """

    documents: dict[str, ShownDocument] = field(default_factory=dict)
    chunks: dict[Key, ShownChunk] = field(default_factory=dict)
    places: dict[Key, Location] = field(default_factory=dict)

    def of(self, keys: Collection[Key]) -> Passages:
        """These of them alone; unknown ones are left out."""
        paths = {path for path, _ in keys}
        return Passages(
            documents={path: self.documents[path] for path in paths if path in self.documents},
            chunks={key: self.chunks[key] for key in keys if key in self.chunks},
            places={key: self.places[key] for key in keys if key in self.places},
        )

    def __or__(self, more: Passages) -> Passages:
        """Both together."""
        return Passages(
            self.documents | more.documents, self.chunks | more.chunks, self.places | more.places
        )


class RecentPassages:
    """Those of one version that were read lately: of a question that is typed letter by letter,
    the hits are mostly the same."""

    def __init__(self) -> None:
        self._kept: tuple[object, Passages] = (None, Passages())

    def of(
        self,
        keys: Sequence[Key],
        read: Callable[[Sequence[Key]], Passages],
        identity: Callable[[], object],
    ) -> Passages:
        """These chunks; unknown ones are left out.

        Args:
            read: reads some chunks from the table; may move it to another version.
            identity: of the version that it reads now.
        """
        version, known = self._kept
        if version != identity():
            version, known = identity(), Passages()
        lacking = [key for key in keys if key not in known.chunks]
        if lacking:
            new = read(lacking)
            known = known | new if version == identity() else new
            few_enough = len(known.chunks) <= _KEPT_CHUNKS
            self._kept = (identity(), known if few_enough else new)
        return known.of(keys)


def read_passages(table: Reading, keys: Sequence[Key]) -> Passages:
    """Read these chunks with what is shown of them; unknown ones are left out.

    Every column costs, so no other is read; the texts mostly were read when the chunks were
    candidates.
    """
    paths = list(dict.fromkeys(path for path, _ in keys))
    if not paths:
        return Passages()
    scans = [table.scan(filters.one_of("path", batch), _THERE) for batch in batches(paths)]
    there = pa.concat_tables(scans)
    of_documents = there.filter(pc.equal(there["chunk_index"], DOCUMENT_ROW))
    documents = table.take(of_documents[ROW_ID].to_pylist(), _SHOWN_DOCUMENT)
    documents = documents.filter(pc.is_valid(documents["kind"]))  # not what was removed
    lines = there.filter(pc.is_valid(there["line_count"]))  # chunks, but for those removed
    row_of, counts = dict(keyed(lines, ROW_ID)), dict(keyed(lines, "line_count"))
    row_ids = [row_of[key] for key in dict.fromkeys(keys) if key in row_of]
    shown = _rows(table.take(row_ids, _SHOWN_CHUNK), _SHOWN_CHUNK)
    chunks = {
        (path, chunk_index): ShownChunk(text, tuple(trail or ()), role, said_at)
        for (path, chunk_index, text), (trail, role, said_at) in zip(
            table.texts(row_ids), shown, strict=True
        )
    }
    return Passages(
        documents={row[0]: ShownDocument(*row) for row in _rows(documents, _SHOWN_DOCUMENT)},
        chunks=chunks,
        places=locate(
            lines, [(key, chunk.text, counts[key], chunk.role) for key, chunk in chunks.items()]
        ),
    )


def _rows(rows: pa.Table, columns: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in columns), strict=True)
