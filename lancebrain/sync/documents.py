"""A file's bytes → its document row and its chunks: reader and chunker in one step.

Pure, and a function of the bytes, the name and the source alone; the engine calls it for every
file whose content is new.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lancebrain.chunking import chunk
from lancebrain.readers import kind_of, read
from lancebrain.types import Chunk, Document, DocumentState, Problem, SourceFile

from .reading import Reading

REFUSED = ""
"""The kind of a document that no reader takes: known, with its problem, and without chunks."""

_HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the table is to hold of a file."""

    state: DocumentState
    chunks: tuple[Chunk, ...]


def parse(file: SourceFile, reading: Reading) -> Parsed:
    """Read and cut a file.

    A file that its reader refuses gets a document row of kind ``""`` without chunks, which
    carries the problem: so it is known, and not tried again until it changes.
    """
    kind = kind_for(file, reading)
    document = (
        Problem(file.path, "unknown-kind", "No reader knows what this file holds.")
        if kind is None
        else read(file.path, kind, reading.data)
    )
    if isinstance(document, Problem):
        return Parsed(_refused(file, reading, document), ())
    return Parsed(_state(file, reading, document), tuple(chunk(document)))


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


def _state(file: SourceFile, reading: Reading, document: Document) -> DocumentState:
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
            mime=document.mime,
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
