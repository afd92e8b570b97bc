"""Document → chunks: pure, deterministic, local and lossless.

    chunk(document) -> list[Chunk]
    embedding_text(kind, heading_path, text) -> str
    CHUNKING_VERSION: int
"""

CHUNKING_VERSION = 1
