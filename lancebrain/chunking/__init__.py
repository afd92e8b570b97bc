"""Document → chunks: pure, deterministic, local and lossless.

    chunk(document) -> list[Chunk]
    embedding_text(kind, heading_path, text, table_header) -> str
    embedding_text_of(kind, chunk) -> str
    chunk_hash(embedding_text) -> str
    display_width(text) -> int
    CHUNKING_VERSION: int

The way: blocks → groups (sections) → pieces (on demand) → cuts (packing) → chunks (chunker).
"""

from lancebrain.chunking.chunker import chunk
from lancebrain.chunking.passage import chunk_hash, embedding_text, embedding_text_of
from lancebrain.chunking.width import display_width

CHUNKING_VERSION = 2
"""Changes whenever the same document would get other chunks or other embedding texts."""

__all__ = [
    "CHUNKING_VERSION",
    "chunk",
    "chunk_hash",
    "display_width",
    "embedding_text",
    "embedding_text_of",
]
