"""What was done, and how things stand: syncs, versions and what is between them, status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from .content import Problem


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
        model_before, model: of ``version_before`` and of ``restored``, which is in use afterwards.
    """

    version_before: int
    restored: int
    version: int
    checkpoint: str
    changes: Mapping[str, int]
    ref: str = ""
    model_before: str = ""
    model: str = ""

    @property
    def changes_model(self) -> bool:
        """Whether the index has another model afterwards."""
        return self.model != self.model_before
