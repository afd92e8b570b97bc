"""What the tools return: complete by itself, since some programs show a model nothing else."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field


class FoundPassage(BaseModel):
    """A passage that answers the question."""

    id: Annotated[str, Field(description="Give it to get_detail for the whole passage.")]
    path: Annotated[str, Field(description="Of the document: source-name/relative/path.")]
    uri: Annotated[str, Field(description="Of the document as a resource.")]
    title: str
    headings: Annotated[list[str], Field(description="From the outermost heading inwards.")]
    line_start: int
    line_end: int
    score: Annotated[float, Field(description="Comparable within this answer only.")]
    text: Annotated[str, Field(description="The part that matches, fenced as data.")]
    freshness: Annotated[
        str, Field(description="fresh; changed: the file is newer; unknown: it cannot be reached.")
    ]
    kind: str
    domain: str
    role: Annotated[str | None, Field(description="In a session log: user or assistant.")] = None
    said_at: Annotated[str | None, Field(description="In a session log: when.")] = None
    also_at: Annotated[
        list[str], Field(description="path:lines of near-identical passages, left out here.")
    ] = []


class SearchResult(BaseModel):
    """Passages, best first, and the state of the index that they come from."""

    about_text: Annotated[str, Field(description="How text from files is marked.")]
    hits: list[FoundPassage]
    notes: Annotated[list[str], Field(description="What a reader should know of this answer.")]
    version: Annotated[int, Field(description="Of the index; usable as `at`.")]
    pending: Annotated[int, Field(description="Passages not findable by meaning yet.")]
    pinned: Annotated[
        str | None, Field(description="The version that the index is held at after a rollback.")
    ] = None
    left_out: Annotated[str, Field(description="What is not here and how to get it; or empty.")] = (
        ""
    )
    cursor: Annotated[str | None, Field(description="Pass it on to get the next hits.")] = None


class OutlineEntry(BaseModel):
    """A section of a document."""

    id: str
    headings: list[str]
    line_start: int
    line_end: int


class LinkOut(BaseModel):
    """A link in the document."""

    target: Annotated[str, Field(description="As written.")]
    path: Annotated[str | None, Field(description="The document it leads to, if indexed.")] = None


class DetailResult(BaseModel):
    """A document or a passage of it, with what is around it."""

    about_text: str
    path: str
    uri: str
    title: str
    headings: Annotated[list[str], Field(description="Of the passage asked for.")]
    text: Annotated[str, Field(description="Exactly as in the file but for control characters.")]
    line_start: int
    line_end: int
    ids: Annotated[list[str], Field(description="Of the passages that the text consists of.")]
    passages: Annotated[str, Field(description="Which of how many passages these are.")]
    sha256: Annotated[
        str, Field(description="Of the file; expected_hash for update_knowledge, remove_knowledge.")
    ]
    freshness: str
    kind: str
    domain: str
    tags: list[str]
    role: Annotated[str | None, Field(description="In a session log: user or assistant.")] = None
    said_at: Annotated[str | None, Field(description="When, in a session log.")] = None
    question: Annotated[
        str, Field(description="In a session log: what the passage answers, fenced as data.")
    ] = ""
    question_id: Annotated[str, Field(description="Give it to get_detail to see it whole.")] = ""
    metadata: Annotated[
        str,
        Field(
            description="The frontmatter as JSON, fenced as data; of a session log its session, "
            "project and git_branch."
        ),
    ]
    outline: list[OutlineEntry]
    links: list[LinkOut]
    backlinks: Annotated[list[str], Field(description="Documents that link here.")]
    version: int
    left_out: str = ""
    cursor: Annotated[str | None, Field(description="Pass it on to get the next page.")] = None


class ProblemEntry(BaseModel):
    """Something that could not be taken in as it is."""

    path: str
    code: str
    message: str


class ReindexResult(BaseModel):
    """What a look at the files found and did."""

    version: int
    added: int
    changed: int
    moved: int
    removed: int
    unchanged: int
    embedded: int
    seconds: float
    problems: list[ProblemEntry]
    pinned: Annotated[
        str | None, Field(description="The version that the index is held at after a rollback.")
    ] = None
    notes: Annotated[list[str], Field(description="What a reader should know of this.")] = []
    left_out: str = ""


class SourceEntry(BaseModel):
    """A folder that is indexed."""

    name: Annotated[str, Field(description="First part of the paths of its documents.")]
    root: str
    state: Annotated[
        str, Field(description="ok, missing, unreadable, empty; unlisted: configured no more.")
    ]
    documents: int
    domain: str = ""
    kind: str | None = None
    writable: Annotated[bool, Field(description="add_knowledge may write here.")] = False


class SourcesResult(BaseModel):
    """All sources."""

    sources: list[SourceEntry]
    domains: Annotated[dict[str, int], Field(description="Documents of each; `domain` filters.")]
    kinds: dict[str, int]
    frequent_tags: Annotated[dict[str, int], Field(description="The 30 most frequent.")]
    how_to_add: str


class StatusResult(BaseModel):
    """The index at a glance."""

    ready: Annotated[bool, Field(description="Questions are answered by meaning and words.")]
    doing: Annotated[str, Field(description="What the server is busy with now.")]
    version: int
    documents: int
    passages: int
    pending: Annotated[int, Field(description="Passages not findable by meaning yet.")]
    pinned: str | None
    following: Annotated[str, Field(description="How changes of the files are noticed.")]
    model: str
    index: str
    bytes: int
    sources: list[SourceEntry]
    problems: list[ProblemEntry]
    left_out: str = ""


class WriteResult(BaseModel):
    """A note that was written or removed."""

    path: str
    uri: str
    sha256: Annotated[str, Field(description="Of the file now; empty when removed.")]
    searchable: Annotated[bool, Field(description="The index equals the file now.")]
    why_not: str = ""
    version: int


class VersionEntry(BaseModel):
    """A state of the index."""

    version: int
    at: str
    reason: str
    counts: dict[str, int]
    checkpoints: list[str]
    message: str
    is_current: bool


class HistoryResult(BaseModel):
    """Versions, newest first."""

    versions: list[VersionEntry]
    pinned: str | None
    left_out: str = ""


class RollbackResult(BaseModel):
    """What a rollback did, or would do."""

    done: bool
    restored: int
    version: int
    version_before: int
    checkpoint: Annotated[str, Field(description="Names the state before; roll back to it.")]
    changes: dict[str, int]
    model: Annotated[
        str | None,
        Field(description="That of the restored version, which is in use then, if it is another."),
    ] = None
    what_next: str
