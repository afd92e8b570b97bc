"""Proof that documents are gone: everything in the index folder is looked through for their text.

Every file is searched byte by byte, and since Lance compresses what it stores, the rows of every
version are read through it and the full-text index is asked as well. What is looked for are lines
that stood in no other document.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lancebrain.store import Snapshot, Store
from lancebrain.store.connection import table_folder
from lancebrain.store.manifests import newest_manifests
from lancebrain.types import Filter
from lancebrain.versions.documents import find_documents

_LINES_A_DOCUMENT = 5
_MOST_LINES = 60
_QUESTIONS_A_VERSION = 10
_SHORTEST_BYTES = 12
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@dataclass(frozen=True, slots=True)
class Proof:
    """What was looked through, and what was found, which has to be nothing.

    Attributes:
        lines: that were looked for; with 0 of them, paths alone were.
        files, bytes: searched byte by byte.
        versions, rows: read through Lance.
        questions: asked of the full-text index, a line each.
        found: where something of the documents is, as sentences.
    """

    lines: int
    files: int
    bytes: int
    versions: int
    rows: int
    questions: int
    found: tuple[str, ...]


def distinctive_lines(
    store: Store, paths: Sequence[str], documents: Sequence[str]
) -> tuple[str, ...]:
    """Lines of documents that stand in no other document, in any version that is kept.

    A few of each document and version, the longest first.
    """
    named = [store.snapshot(version) for version in sorted(set(store.tags().values()))]
    kept = [store.snapshot(), *reversed(named)]
    texts = {text: None for snapshot in kept for text in _joined(snapshot, documents)}
    for path in paths:
        for one in find_documents(store, path).values():
            texts |= dict.fromkeys(_joined(one.snapshot, [one.state.path]))
    chosen: dict[str, None] = {}
    for text in texts:
        lines = {line.strip() for line in text.splitlines()}
        long = [line for line in lines if len(line.encode()) >= _SHORTEST_BYTES]
        chosen |= dict.fromkeys(sorted(long, key=len, reverse=True)[:_LINES_A_DOCUMENT])
    left = list(chosen)
    forgotten = set(documents)
    for snapshot in kept:
        for path, text in _texts(snapshot):
            if path not in forgotten:
                left = [line for line in left if line not in text]
    return tuple(left[:_MOST_LINES])


def prove(store: Store, lines: Sequence[str], documents: Sequence[str]) -> Proof:
    """Look for lines and documents through everything that the index folder holds.

    Args:
        lines: from :func:`distinctive_lines`, before the documents were forgotten.
        documents: paths that no version may have.
    """
    found: list[str] = []
    rows = questions = 0
    versions = sorted(store.versions())
    for version in versions:
        snapshot = store.snapshot(version)
        there = snapshot.to_arrow(["path"])["path"].to_pylist()
        rows += len(there)
        still = sorted(set(documents).intersection(there))
        found += [f"version {version} has rows of {path}" for path in still]
        for path, text in _texts(snapshot):
            found += [f"version {version} has {line!r} in {path}" for line in lines if line in text]
        for line in lines[:_QUESTIONS_A_VERSION]:
            questions += 1
            hits = snapshot.keyword_candidates(line.replace('"', " "), Filter(), 20)
            answers = {hit.path for hit in hits if hit.path in documents or line in hit.text}
            found += [f"version {version} answers {line!r} from {path}" for path in answers]
    files = [file for file in sorted(store.folder.rglob("*")) if file.is_file()]
    found += _unread(table_folder(store.folder))
    for file in files:
        found += [f"{file} holds {line!r}" for line in _lines_in(file, lines)]
    return Proof(
        lines=len(lines),
        files=len(files),
        bytes=sum(file.stat().st_size for file in files),
        versions=len(versions),
        rows=rows,
        questions=questions,
        found=tuple(found),
    )


def _joined(snapshot: Snapshot, paths: Sequence[str]) -> Iterator[str]:
    for chunks in snapshot.chunks(paths).values():
        yield "".join(stored.chunk.text for stored in chunks)


def _texts(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Path and everything readable of each row."""
    columns = ["path", "text", "heading_path", "table_header", "tags", "doc"]
    for row in snapshot.to_arrow(columns).to_pylist():
        yield row["path"], "\n".join(str(row[name]) for name in columns[1:] if row[name])


def _unread(table: Path) -> Iterator[str]:
    """Data files of no version, which reading the versions has passed by."""
    manifests = b"".join(manifest.read_bytes() for manifest in newest_manifests(table))
    for file in sorted((table / "data").rglob("*")):
        if file.is_file() and file.name.encode() not in manifests:
            yield f"{file} belongs to no version, so that it was not read"


def _lines_in(file: Path, lines: Sequence[str]) -> Iterator[str]:
    if not file.stat().st_size:
        return
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for line in lines:
            if any(data.find(line.encode(encoding)) >= 0 for encoding in _ENCODINGS):
                yield line
