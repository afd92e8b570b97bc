"""Session logs → documents: the turns, joined, one block each; and going on where it stopped.

    read(path, kind, data)              a log's bytes, as every reader takes them
    read_stream(path, kind, stream)     the same without holding the file in memory
    resume(path, kind, stream, state)   only what was appended since, or None: read it anew
    is_subagent_log(path, head)         for discovery: sub-agents' logs are left out by default

**Appending.** A document of a log carries ``reader_state``. While the log only grows, ``resume``
verifies that what was read is still there (the hashes of the first and of the last bytes before
the offset, and which file it is), reads on from the offset, and returns the new turns alone:

    appended = resume(path, kind, stream, state.reader_state, options)
    if appended is None:      document = read_stream(path, kind, stream, options)
    else:                     rows of chunk(appended.document) follow the stored ones, the last
                              stored chunk gets ``lines_before`` more lines, and the document row
                              takes the rest from ``appended.document``

Reading a log in pieces gives what reading it at once gives. Where that cannot be (an earlier
turn changes: a record comes again with another text, the file shrank or was replaced), the
answer is None. A compressed log, and one that is one JSON value, is always read whole.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from lancebrain.types import Document, Problem

from . import claude, codex, gemini, jsonl, secrets
from .compression import DamagedArchive, decompressed, is_compressed
from .continuation import Mark
from .conversation import Conversation
from .jsonl import Fields
from .logformat import LogFormat
from .loglines import LogLines
from .transcript import document_of

FORMATS = {
    "claude": claude.FORMAT,
    "codex": codex.FORMAT,
    "gemini": gemini.FORMAT,
    "jsonl": jsonl.FORMAT,
}
"""Kind → format; the ones before the last are told apart by content, it takes what is left."""

HEAD_BYTES = 1 << 16
"""First bytes by which a format knows its own."""
VERSION = 2
"""Raised when documents of logs are to be read anew."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How logs are read.

    Attributes:
        subagents: keep what was said between agents; marked by the tag ``subagent``.
        mask_secrets: put ``[secret: kind]`` for well-known secrets, before anything is kept.
        fields: names of the fields of chat exports (kind ``jsonl``).
    """

    subagents: bool = False
    mask_secrets: bool = True
    fields: Fields = field(default_factory=Fields)


@dataclass(frozen=True, slots=True)
class Appended:
    """What was appended to a log.

    Attributes:
        document: the new turns as text and blocks; title, tags, metadata and reader_state are
            those of the whole log by now.
        lines_before: lines of the file to add to the last turn that was known, since they
            stand before the first new one; 0 where no turn was known.
    """

    document: Document
    lines_before: int


def read(
    path: str, kind: str, data: bytes, options: SessionOptions | None = None
) -> Document | Problem:
    """Read a log's bytes, see :func:`read_stream`."""
    return read_stream(path, kind, io.BytesIO(data), options)


def read_stream(
    path: str, kind: str, stream: BinaryIO, options: SessionOptions | None = None
) -> Document | Problem:
    """Read a log from its start, in memory that is a few hundred kilobytes and what was said.

    Args:
        path: document path.
        kind: ``claude``, ``codex``, ``gemini`` or ``jsonl``; a file that looks like another
            format is read as that, since content tells more than the folder.
        stream: binary and seekable, positioned anywhere.

    Returns:
        The document, or a Problem ``damaged-archive`` for a compressed log that is broken. A
        half-written last line is left for :func:`resume`.
    """
    options = options or SessionOptions()
    try:
        compressed = is_compressed(stream)
        head = (decompressed(stream) if compressed else stream).read(HEAD_BYTES)
        stream.seek(0)
        log = _format(kind, head, options)
        talk = _conversation(options, None)
        if log.is_subagent(path, head):
            talk.notes["subagent"] = True
            talk.silent = not options.subagents
        plain = decompressed(stream) if compressed else stream
        if log.take_value is not None and log.is_one_value(head):
            line_count = log.take_value(plain, talk)
            return document_of(kind, talk, line_count, known_lines=0, state=None)[0]
        lines = LogLines(plain, log.classify, log.spoken)
        _take_all(lines, log, talk)
    except DamagedArchive as error:
        return Problem(path, "damaged-archive", f"The log cannot be decompressed: {error}.")
    state = None if compressed else _state(kind, log, options, Mark.after(stream, lines))
    return document_of(kind, talk, lines.line_count, known_lines=0, state=state)[0]


def resume(
    path: str, kind: str, stream: BinaryIO, state: str, options: SessionOptions | None = None
) -> Appended | None:
    """Read what was appended to a log since ``state``.

    Args:
        path, kind: as for the reading that gave the state.
        stream: the log now, seekable.
        state: ``reader_state`` of its document.
        options: as before; with others the log has to be read anew.

    Returns:
        None if the log must be read anew: it shrank, was replaced or rewritten, a later record
        changes an earlier turn, or the state is of another version.
    """
    options = options or SessionOptions()
    before = json.loads(state)
    log = _format(before["format"], b"", options)
    mark = Mark.of(before["mark"])
    if before | _state(kind, log, options, mark) != before or not mark.offset:
        return None
    if not mark.is_kept_by(stream):
        return None
    talk = _conversation(options, before["talk"])
    lines = LogLines(
        stream,
        log.classify,
        log.spoken,
        offset=mark.offset,
        line_count=mark.line_count,
        unended=mark.unended,
    )
    _take_all(lines, log, talk)
    if talk.stale or lines.overwritten:
        return None
    document, lines_before = document_of(
        kind,
        talk,
        lines.line_count,
        known_lines=mark.line_count,
        state=_state(kind, log, options, Mark.after(stream, lines)),
    )
    return Appended(document, lines_before)


def is_subagent_log(path: str, head: bytes) -> bool:
    """Whether a file is a sub-agent's log, by its path and its first bytes (:data:`HEAD_BYTES`
    of them, compressed or not)."""
    head = _plain(head)
    return any(log.looks_like(head) and log.is_subagent(path, head) for log in FORMATS.values())


def detect(head: bytes) -> str | None:
    """The kind of log that a file's first bytes (:data:`HEAD_BYTES` of them, compressed or not)
    look like; None if none."""
    head = _plain(head)
    return next((kind for kind, log in FORMATS.items() if log.looks_like(head)), None)


def _plain(head: bytes) -> bytes:
    stream = io.BytesIO(head)
    try:
        return decompressed(stream).read(HEAD_BYTES) if is_compressed(stream) else head
    except DamagedArchive:
        return b""


def _format(kind: str, head: bytes, options: SessionOptions) -> LogFormat:
    own = jsonl.log_format(options.fields) if kind == "jsonl" else FORMATS[kind]
    if not head or own.looks_like(head):
        return own
    others = (log for log in FORMATS.values() if log.kind not in (kind, "jsonl"))
    return next((log for log in others if log.looks_like(head)), own)


def _state(kind: str, log: LogFormat, options: SessionOptions, mark: Mark) -> dict[str, Any]:
    return {
        "version": VERSION,
        "kind": kind,
        "format": log.kind,
        "options": hashlib.sha256(repr(options).encode()).hexdigest()[:16],
        "mark": asdict(mark),
    }


def _conversation(options: SessionOptions, carried: dict[str, Any] | None) -> Conversation:
    mask = secrets.mask if options.mask_secrets else secrets.no_mask
    return Conversation(mask, subagents=options.subagents, carried=carried)


def _take_all(lines: LogLines, log: LogFormat, talk: Conversation) -> None:
    for number, record in lines:
        talk.line = number
        if record is None:
            talk.skipped("(not JSON)")
        else:
            log.take(record, talk)
        if talk.stale:
            return
