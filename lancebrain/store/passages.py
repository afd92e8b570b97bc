"""Chunks as an answer shows them: with their document's state and their place in it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.types import DOCUMENT_ROW, DocumentState, StoredChunk

from .decode import CHUNK_COLUMNS, DOCUMENT_COLUMNS, document_states, stored_chunks
from .locations import Location, locate

Key = tuple[str, int]
PASSAGE_COLUMNS = tuple(dict.fromkeys(CHUNK_COLUMNS + DOCUMENT_COLUMNS))


@dataclass(frozen=True, slots=True)
class Passages:
    """What is known of some chunks.

    Attributes:
        documents: by path, of the documents they are in.
        chunks, places: by key (path, chunk_index).
    """

    documents: dict[str, DocumentState]
    chunks: dict[Key, StoredChunk]
    places: dict[Key, Location]


def passages_of(rows: pa.Table, there: pa.Table) -> Passages:
    """Put together what was read.

    Args:
        rows: chunk rows and the rows of their documents, with ``PASSAGE_COLUMNS``.
        there: path, chunk_index and line_count of every row of these documents.
    """
    is_document = pc.equal(rows["chunk_index"], DOCUMENT_ROW)
    chunks = rows.filter(pc.invert(is_document))
    lines = there.filter(pc.not_equal(there["chunk_index"], DOCUMENT_ROW))
    return Passages(
        documents=document_states(rows.filter(is_document)),
        chunks={(row.path, row.chunk_index): row for row in stored_chunks(chunks)},
        places=locate(lines, chunks.select(["path", "chunk_index", "text", "line_count", "role"])),
    )
