"""The values that travel: source → file → document → chunks → plan → rows → hits → answer.

Frozen, slotted dataclasses without behaviour beyond what can be derived from their own
fields. Every layer speaks in these; none of them knows a layer.

Conventions: times are UTC-aware ``datetime`` (or ``*_ns`` integers from ``stat``); lines are
1-based and inclusive; sizes are bytes; document paths are ``source-name/relative/posix/path``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

DOCUMENT_ROW = -1
"""``chunk_index`` of the row that carries a document's own state."""

Mode = Literal["hybrid", "vector", "keyword"]
Freshness = Literal["fresh", "changed", "unknown"]


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


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did; ``sync --json`` prints exactly this."""

    version: int
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    rows_written: int = 0
    rows_deleted: int = 0
    embedded: int = 0
    reused: int = 0
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync has come; told to its ``progress`` callable now and then.

    Attributes:
        phase: ``look`` (walking the roots), ``read`` (reading and committing changed files),
            ``embed`` (filling in vectors).
        files, files_total: changed files done, and all of them; a total of 0 is not known yet.
        chunks, chunks_total: chunks embedded so far, and all that are to be.
    """

    phase: Literal["look", "read", "embed"]
    files: int = 0
    files_total: int = 0
    chunks: int = 0
    chunks_total: int = 0


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """Why a version exists; kept beside the table's versions.

    Attributes:
        reason: ``create``, ``sync``, ``backfill``, ``maintenance``, ``rollback``, ``migrate``,
            ``forget``, ``repair``.
        counts: such as ``{"added": 3, "rows_written": 12}``; zero counts are left out.
        note: what else is to be known of it, such as where a rollback went to.
    """

    version: int
    reason: str
    at: datetime
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    pinned: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is narrowed to, before candidates are taken. Empty means no limit.

    Attributes:
        sources, domains, kinds, roles, tags: any of the values may match.
        projects: of session logs, any may match: the session's working folder is this one or
            below it; a name without a slash is that of any folder on the way.
        exclude_domains: none of these.
        path: a document path, a folder (``notes/2026/``), or a glob (``notes/**/*.md``).
        since, until: inclusive; of the turn in a session log, else of the text's last change.
    """

    sources: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question. ``offset`` skips hits, for paging."""

    text: str
    mode: Mode = "hybrid"
    limit: int = 10
    offset: int = 0
    filter: Filter = Filter()


@dataclass(frozen=True, slots=True)
class Place:
    """Where else a text stands that was folded into a hit."""

    path: str
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: a chunk, where it is, and why it is here.

    Attributes:
        id: ``path#chunk_index``; stable while the chunk lives.
        score: 0 to about 1.25, comparable within one answer only.
        snippet: the part of the text around the match, safe to print.
        freshness: ``fresh``; ``changed`` (the file on disk is newer than the index);
            ``unknown`` (its source cannot be reached now).
        also_at: places of near-identical chunks that were folded into this one.
    """

    id: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    role: str | None
    score: float
    snippet: str
    freshness: Freshness
    kind: str = ""
    domain: str = ""
    said_at: datetime | None = None
    also_at: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits and the state they were found in; ``search --json`` prints exactly this.

    Attributes:
        version: the table version that every hit comes from.
        pending: chunks without a vector, so not findable by meaning yet.
        pinned: the reference the index is held at after a rollback, else None.
        notes: sentences a person should know (a leg that was left out, a language the model
            does not speak).
        has_more: more hits exist beyond ``offset + limit``.
    """

    version: int
    pending: int
    pinned: str | None
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source and whether it can be read: ``ok``, ``missing``, ``unreadable``, ``empty``; or
    ``unlisted``, when the index has documents of it and it is configured nowhere."""

    name: str
    root: str
    state: str
    documents: int


@dataclass(frozen=True, slots=True)
class Status:
    """The whole index at a glance; ``status --json`` prints exactly this.

    Attributes:
        pinned_at: when the rollback was that the index is held by.
        bytes: of the whole index folder.
        at: when the version was made.
        versions: how many can be read.
        oldest_version, oldest_at: the first of them.
        watching: how a process follows the files now: ``events``, or ``polling`` and why; ``""``
            when none does.
        masked_secrets: keys and tokens that stand as ``[secret: kind]``.
        skipped_records: of session logs, by a type that no reader knows.
        next_model: that the index is on its way to; "" when it stays with its own.
        recall: share of the nearest chunks that the vector index found when it was checked last;
            None where there is none, and every vector is compared.
    """

    version: int
    pinned: str | None
    documents: int
    chunks: int
    pending: int
    sources: tuple[SourceStatus, ...]
    problems: tuple[Problem, ...]
    bytes: int
    model: str = ""
    index: str = ""
    pinned_at: datetime | None = None
    at: datetime | None = None
    versions: int = 0
    oldest_version: int = 0
    oldest_at: datetime | None = None
    watching: str = ""
    masked_secrets: int = 0
    skipped_records: Mapping[str, int] = field(default_factory=dict)
    next_model: str = ""
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the index, and why it exists.

    Attributes:
        at: when it was made.
        reason: see :class:`CommitRecord`; ``""`` when its record was lost in a crash.
        tags: checkpoints that name it.
        message: of its checkpoints.
        is_current: it is the newest.
        note: see :class:`CommitRecord`.
        pinned: the reference that the index is held at, on the version that is current.
    """

    version: int
    at: datetime
    reason: str
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    message: str = ""
    is_current: bool = False
    note: str = ""
    pinned: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """How a document differs between two versions.

    Attributes:
        what: ``added``, ``changed``, ``moved``, ``removed``.
        path: in the later version; of a removed one, in the earlier.
        before: the earlier path of a moved document.
        text_diff: unified diff of the texts, where it was asked for.
    """

    what: Literal["added", "changed", "moved", "removed"]
    path: str
    before: str | None = None
    text_diff: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed from one version to another."""

    version_from: int
    version_to: int
    changes: tuple[DocumentChange, ...]


@dataclass(frozen=True, slots=True)
class Rollback:
    """What a rollback did, or would do.

    Attributes:
        version_before: that was current.
        restored: the version that the index now equals.
        version: the new current version; of a dry run, ``version_before``.
        checkpoint: name of ``version_before``, the way back.
        changes: how many documents differ, by what happened to them.
        ref: the checkpoint or number of ``restored``; it means the same later on.
    """

    version_before: int
    restored: int
    version: int
    checkpoint: str
    changes: Mapping[str, int]
    ref: str = ""
