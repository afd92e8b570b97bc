"""A file's bytes → its document row and its chunks: reader and chunker in one step.

A function of the bytes, the name, the source and the settings alone; the engine calls it for
every file whose content is new. The bytes of a session log are streamed from its file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from lancebrain.chunking import chunk
from lancebrain.kinds import LOGS
from lancebrain.readers import kind_of, read
from lancebrain.readers.secrets import masked_file
from lancebrain.types import Chunk, Document, DocumentState, Problem, SourceFile

from .manner import REFUSED, Manner
from .reading import Reading, in_file

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.readers.session import Appended

_HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the table is to hold of a file."""

    state: DocumentState
    chunks: tuple[Chunk, ...]


def parse(file: SourceFile, reading: Reading, settings: Settings) -> Parsed:
    """Read and cut a file.

    A file that its reader refuses gets a document row of kind ``""`` without chunks, which
    carries the problem: so it is known, and not tried again until it changes.

    Raises:
        Vanished: it is a session log and gone.
    """
    kind = kind_for(file, reading)
    manner = Manner(file.source, settings)
    document: Document | Problem
    if kind is None:
        document = Problem(file.path, "unknown-kind", "No reader knows what this file holds.")
    elif kind in LOGS:
        document = _read_log(file, kind, manner)
    elif manner.masks_notes:
        document = _read_masked(file, kind, reading.data)
    else:
        document = read(file.path, kind, reading.data)
    if isinstance(document, Problem):
        return Parsed(_refused(file, reading, document), ())
    return Parsed(_state(file, reading, document, manner), tuple(chunk(document)))


def parse_appended(
    file: SourceFile, reading: Reading, before: DocumentState, settings: Settings
) -> tuple[Parsed, int] | None:
    """Read and cut only what was appended to a session log since its document was written.

    Returns:
        The document's new state and the new chunks, and the lines by which the chunk before
        them grows; None if the log must be read anew.

    Raises:
        Vanished: the file is gone.
    """
    from lancebrain.readers.session import resume

    state = before.reader_state
    # A file with another time and no more bytes was not appended to. A row without a hash asks
    # for its document to be read anew.
    grown = reading.size > before.size or reading.mtime_ns == before.mtime_ns
    if not (state and grown and before.sha256 and before.kind == kind_for(file, reading)):
        return None
    manner = Manner(file.source, settings)
    options = manner.log_options()

    def go_on(opened: BinaryIO) -> Appended | None:
        return resume(file.path, before.kind, opened, state, options)

    appended = in_file(file, go_on)
    if appended is None or isinstance(appended, Problem):
        return None
    chunks = tuple(chunk(appended.document))
    return Parsed(_state(file, reading, appended.document, manner), chunks), appended.lines_before


def _read_log(file: SourceFile, kind: str, manner: Manner) -> Document | Problem:
    from lancebrain.readers.session import read_stream

    options = manner.log_options()
    return in_file(file, lambda opened: read_stream(file.path, kind, opened, options))


def _read_masked(file: SourceFile, kind: str, data: bytes) -> Document | Problem:
    """Read a file whose secrets are masked before any reader sees it."""
    data, count = masked_file(data)
    document = read(file.path, kind, data)
    if isinstance(document, Document) and count:
        return replace(document, metadata={**document.metadata, "masked_secrets": count})
    return document


def kind_for(file: SourceFile, reading: Reading) -> str | None:
    """The reader for a file, by its source, its name and its first bytes."""
    name = file.path.rpartition("/")[2]
    return kind_of(name, reading.data[:_HEAD_BYTES], file.source.kind)


def at_place(state: DocumentState, file: SourceFile, reading: Reading) -> DocumentState:
    """The same document, read at another place or time."""
    return replace(
        state,
        path=file.path,
        source=file.source.name,
        domain=file.source.domain,
        size=reading.size,
        mtime_ns=reading.mtime_ns,
        ctime_ns=reading.ctime_ns,
        looked_at_ns=reading.looked_at_ns,
        problems=tuple(replace(problem, path=file.path) for problem in state.problems),
    )


def _state(file: SourceFile, reading: Reading, document: Document, manner: Manner) -> DocumentState:
    return at_place(
        DocumentState(
            path=file.path,
            source=file.source.name,
            domain=file.source.domain,
            kind=document.kind,
            sha256=reading.sha256,
            size=0,
            mtime_ns=0,
            looked_at_ns=0,
            mime=manner.marked(document.kind, document.mime),
            encoding=document.encoding,
            title=document.title,
            tags=document.tags,
            metadata_json=_canonical(document.metadata),
            links=document.links,
            reader_state=document.reader_state,
            raw=document.raw,
            problems=document.problems,
        ),
        file,
        reading,
    )


def _refused(file: SourceFile, reading: Reading, problem: Problem) -> DocumentState:
    return at_place(
        DocumentState(
            path=file.path,
            source=file.source.name,
            domain=file.source.domain,
            kind=REFUSED,
            sha256=reading.sha256,
            size=0,
            mtime_ns=0,
            looked_at_ns=0,
            mime="application/octet-stream",
            encoding="",
            title="",
            problems=(problem,),
        ),
        file,
        reading,
    )


def _canonical(metadata: Mapping[str, object]) -> str:
    """JSON that is equal whenever the values are, in whatever order they were written."""
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
