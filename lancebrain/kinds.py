"""Kinds of documents and the file names that may hold them: one table for every layer above.

Discovery takes candidates by these names; a reader then decides by content. An extension is
lower-case and starts with its dot; names are compared case-insensitively, and a name such as
``.md`` is all extension.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MARKDOWN = "md"
TEXT = "text"

EXTENSIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        MARKDOWN: frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"}),
        TEXT: frozenset({".txt", ".text", ".log", ".rst", ".org", ".adoc", ".tex"}),
        "claude": frozenset({".jsonl"}),
        "codex": frozenset({".jsonl", ".zst"}),
        "gemini": frozenset({".json", ".jsonl"}),
        "jsonl": frozenset({".jsonl", ".ndjson"}),
    }
)
"""Kind → the extensions of its files."""

KINDS: tuple[str, ...] = tuple(EXTENSIONS)

LOGS = frozenset({"claude", "codex", "gemini", "jsonl"})
"""Kinds of session logs: files that grow at their end, and may be of any size."""


def extension_of(name: str) -> str:
    """The part of a file name from its last dot, lower-case; ``""`` without a dot."""
    dot = name.rfind(".")
    return name[dot:].lower() if dot >= 0 else ""


def extensions(kind: str | None) -> frozenset[str]:
    """The extensions that files of ``kind`` may have.

    Args:
        kind: one of :data:`KINDS`, or None for a source whose kind is left open: notes and
            texts, told apart file by file.

    Raises:
        KeyError: no such kind.
    """
    if kind is None:
        return EXTENSIONS[MARKDOWN] | EXTENSIONS[TEXT]
    return EXTENSIONS[kind]
