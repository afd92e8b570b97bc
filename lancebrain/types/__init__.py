"""The values that travel: source → file → document → chunks → plan → rows → hits → answer.

Frozen, slotted dataclasses without behaviour beyond what can be derived from their own
fields. Every layer speaks in these; none of them knows a layer.

Conventions: times are UTC-aware ``datetime`` (or ``*_ns`` integers from ``stat``); lines are
1-based and inclusive; sizes are bytes; document paths are ``source-name/relative/posix/path``.
"""

from .answers import (
    Answer,
    Filter,
    Freshness,
    Hit,
    Mode,
    Place,
    Query,
)
from .content import (
    DOCUMENT_ROW,
    Block,
    Chunk,
    ChunkText,
    Document,
    DocumentState,
    Problem,
    Source,
    SourceFile,
    StoredChunk,
)
from .reports import (
    CommitRecord,
    Diff,
    DocumentChange,
    Progress,
    Rollback,
    SourceStatus,
    Status,
    SyncReport,
    Version,
)

__all__ = [
    "DOCUMENT_ROW",
    "Answer",
    "Block",
    "Chunk",
    "ChunkText",
    "CommitRecord",
    "Diff",
    "Document",
    "DocumentChange",
    "DocumentState",
    "Filter",
    "Freshness",
    "Hit",
    "Mode",
    "Place",
    "Problem",
    "Progress",
    "Query",
    "Rollback",
    "Source",
    "SourceFile",
    "SourceStatus",
    "Status",
    "StoredChunk",
    "SyncReport",
    "Version",
]
