"""Chunks as an answer shows them: with their place, and what is shown of their documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.types import DOCUMENT_ROW

from .locations import Location, locate

Key = tuple[str, int]

_KEPT_CHUNKS = 1_000
"""Some megabytes."""
_LOCATED = ("path", "chunk_index", "text", "line_count", "role")
_SHOWN_DOCUMENT = {name: name for name in ("path", "source", "domain", "kind")} | {
    name: f"doc.{name}" for name in ("title", "size", "mtime_ns", "ctime_ns", "sha256")
}
_SHOWN_CHUNK = ("text", "heading_path", "role", "said_at")
PASSAGE_COLUMNS = _SHOWN_DOCUMENT | {name: name for name in (*_LOCATED, *_SHOWN_CHUNK)}
"""Output column to its expression: every column costs, so there are no others."""


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


def passages_of(rows: pa.Table, there: pa.Table) -> Passages:
    """Put together what was read.

    Args:
        rows: chunk rows and the rows of their documents, with ``PASSAGE_COLUMNS``.
        there: path, chunk_index and line_count of every row of these documents.
    """
    is_document = pc.equal(rows["chunk_index"], DOCUMENT_ROW)
    documents, chunks = rows.filter(is_document), rows.filter(pc.invert(is_document))
    lines = there.filter(pc.not_equal(there["chunk_index"], DOCUMENT_ROW))
    shown = zip(*(documents[name].to_pylist() for name in _SHOWN_DOCUMENT), strict=True)
    keys = zip(*(chunks[name].to_pylist() for name in ("path", "chunk_index")), strict=True)
    parts = zip(*(chunks[name].to_pylist() for name in _SHOWN_CHUNK), strict=True)
    return Passages(
        documents={row[0]: ShownDocument(*row) for row in shown},
        chunks={
            key: ShownChunk(text, tuple(trail or ()), role, said_at)
            for key, (text, trail, role, said_at) in zip(keys, parts, strict=True)
        },
        places=locate(lines, chunks.select(_LOCATED)),
    )
