"""What is asked and answered: question → hits → answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Mode = Literal["hybrid", "vector", "keyword"]
Freshness = Literal["fresh", "changed", "unknown"]


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
