"""What is indexed: source → file → document → chunks → rows, and what was wrong with any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

DOCUMENT_ROW = -1
"""``chunk_index`` of the row that carries a document's own state."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with user data: reported, while the rest goes on.

    Attributes:
        path: document path, or a source's name (or ``""``) when it is about more than a file.
        code: stable, kebab-case, for machines: ``not-text``, ``frontmatter-invalid``, …
        message: one sentence for people.
    """

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Source:
    """A folder that is indexed.

    Attributes:
        name: unique, the first segment of every document path from here.
        root: absolute folder (``~`` already expanded, not resolved through symlinks).
        kind: ``md``, ``text``, ``claude``, ``codex``, ``gemini``, ``jsonl``, or None: by file
            name and content.
        domain: free label to filter by.
        include: gitignore-style patterns; when given, only matching files are taken.
        exclude: gitignore-style patterns that are left out.
        recursive: False takes only the files directly in ``root``.
        writable: notes may be written here through the tools.
        fields: of kind ``jsonl``: names in the export that are not the usual ones, each with the
            name it stands for, see :class:`lancebrain.readers.jsonl.Fields`.
    """

    name: str
    root: Path
    kind: str | None = None
    domain: str = "knowledge"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    recursive: bool = True
    writable: bool = False
    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()


class SourceFile(NamedTuple):
    """A file that discovery found, as ``stat`` saw it; not read yet.

    A named tuple among the dataclasses: every look makes one for every file, and a frozen
    dataclass takes three times as long to make.

    Attributes:
        path: document path, always valid Unicode.
        file: absolute name of the file, as ``os.fsdecode`` gives it; a string, since a walk
            makes one for every file and a ``Path`` takes as long as the ``stat``.
        ctime_ns: of the last change of content or attributes (``st_ctime_ns``): it moves also
            when a tool sets the old ``mtime`` back. 0 where that is not known.
    """

    source: Source
    path: str
    file: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """A span of ``Document.text`` that the reader knows to belong together.

    The blocks of a document tile its text: each starts where the one before ended.

    Attributes:
        start, end: character offsets into ``Document.text``; ``end`` is exclusive.
        kind: ``frontmatter``, ``heading``, ``paragraph``, ``list_item``, ``table``, ``fence``,
            ``html``, ``text``, ``turn``.
        heading_path: titles from the outermost heading that hold here; a heading's own block
            already includes its title.
        tags: inline tags found in this span.
        role: ``user`` or ``assistant`` in a session log, else None.
        said_at: time of the turn in a session log, else None.
        line_count: lines of the file that the span covers, where that is not the number of
            line ends in the span (a turn in a JSONL file); None to count them.
    """

    start: int
    end: int
    kind: str
    heading_path: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    role: str | None = None
    said_at: datetime | None = None
    line_count: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader made of a file's bytes.

    Attributes:
        kind: the reader's kind.
        text: the decoded file with its own line ends (for a session log: the turns, joined).
        title: from frontmatter, else the first heading, else ``""`` (the name stands in).
        tags: all tags, of frontmatter and inline, in order of appearance, without ``#``.
        document_tags: the frontmatter's alone: they hold for every chunk.
        metadata: JSON-compatible values of the frontmatter.
        links: targets of links and wikilinks, as written, each once.
        blocks: tile ``text``; empty for a blank text.
        encoding: Python codec name that gives the bytes back (``utf-8-sig`` when a BOM led).
        mime: media type, such as ``text/markdown``.
        reader_state: JSON by which a log's reader goes on where it stopped; None where a file is
            always read whole.
        raw: the file's bytes, only where encoding ``text`` would not give them back, or where
            ``text`` is blank and so no chunk holds it.
        problems: what was wrong, with the path already set.
    """

    kind: str
    text: str
    title: str
    blocks: tuple[Block, ...]
    encoding: str
    mime: str
    tags: tuple[str, ...] = ()
    document_tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    reader_state: str | None = None
    raw: bytes | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document's text; the chunks of a document, joined, are its text.

    Attributes:
        text: the exact slice.
        chunk_hash: SHA-256 (hex) of its ``chunking.embedding_text``, the very text that a model
            is given; equal hashes have equal vectors.
        line_count: lines of the file begun within this chunk, so that prefix sums over the
            chunks before give its first line.
        table_header: the first line of the table that it begins in the midst of, else ``""``.
    """

    text: str
    chunk_hash: str
    heading_path: tuple[str, ...]
    tags: tuple[str, ...]
    line_count: int
    role: str | None = None
    said_at: datetime | None = None
    table_header: str = ""


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the table holds it, without its vector."""

    path: str
    chunk_index: int
    chunk: Chunk
    embedded: bool
    created_at: datetime
    updated_at: datetime


class ChunkText(NamedTuple):
    """What a model is given of a stored chunk is made of this.

    A tuple, since an index of a million chunks makes as many.
    """

    path: str
    chunk_index: int
    chunk_hash: str
    kind: str
    heading_path: tuple[str, ...]
    text: str
    table_header: str


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The document row: what the table knows of a file, enough to tell that it is unchanged.

    Attributes:
        sha256: of the file's bytes, hex.
        looked_at_ns: wall clock when the file was read; a file whose ``mtime_ns`` is not older
            than this by a margin may have changed within the clock's resolution.
        ctime_ns: as in :class:`SourceFile`; 0 where it was not known.
        metadata_json: the frontmatter as canonical JSON.
        reader_state, raw: see :class:`Document`; the store compresses ``raw``.
    """

    path: str
    source: str
    domain: str
    kind: str
    sha256: str
    size: int
    mtime_ns: int
    looked_at_ns: int
    mime: str
    encoding: str
    title: str
    tags: tuple[str, ...] = ()
    ctime_ns: int = 0
    metadata_json: str = "{}"
    links: tuple[str, ...] = ()
    reader_state: str | None = None
    raw: bytes | None = None
    problems: tuple[Problem, ...] = ()
