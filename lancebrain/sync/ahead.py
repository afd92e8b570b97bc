"""Work that a cluster does before a sync: files are parsed and texts embedded, many at a time.

The sync that follows is the same as any. It looks at the files, reads each, and where the bytes
are those that were parsed already, takes what came of that; vectors it finds in the cache, where
each batch is put as soon as it is done. So whatever is lost on the way, a worker, the cluster or
this process, costs no more than doing the rest again, and the rows are those of a local sync.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lancebrain.chunking import embedding_text_of
from lancebrain.types import Problem, SourceFile

from .documents import Parsed, parse
from .reading import Reading, Vanished, read_file

if TYPE_CHECKING:
    from lancebrain.config import Settings

GROUP_BYTES = 1024 * 1024
GROUP_FILES = 128
BATCH_CHARS = 64 * 1024
BATCH_TEXTS = 64
_BATCHES_IN_ORDER = 16
"""So many batches' texts are put in order of their length at a time: most models pad the texts of
a batch to the longest."""


class Ahead(Protocol):
    """Gives what came of parsing a file, whoever does it."""

    def parse(self, file: SourceFile, reading: Reading, settings: Settings) -> Parsed:
        """See :func:`lancebrain.sync.documents.parse`."""


class Here:
    """Parses each file when it is asked for."""

    def parse(self, file: SourceFile, reading: Reading, settings: Settings) -> Parsed:
        """See :class:`Ahead`."""
        return parse(file, reading, settings)


@dataclass(frozen=True, slots=True)
class ParsedGroup:
    """What a worker made of some files.

    Attributes:
        parsed: by the document's path: the hash of the bytes, and what came of them.
        texts: chunk hash → embedding text.
    """

    parsed: Mapping[str, tuple[str, Parsed]]
    texts: Mapping[str, str]


def parse_group(files: Sequence[SourceFile], settings: Settings, now_ns: int) -> ParsedGroup:
    """Read and parse files, in a worker. What cannot be read is left to the sync, which tells."""
    parsed: dict[str, tuple[str, Parsed]] = {}
    texts: dict[str, str] = {}
    for file in files:
        try:
            reading = read_file(file, now_ns)
            if isinstance(reading, Problem):
                continue
            found = parse(file, reading, settings)
        except Vanished:
            continue
        parsed[file.path] = (reading.sha256, found)
        kind = found.state.kind
        texts |= {chunk.chunk_hash: embedding_text_of(kind, chunk) for chunk in found.chunks}
    return ParsedGroup(parsed, texts)


def groups(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Files, as many at a time as a worker takes."""
    group: list[SourceFile] = []
    left_bytes = GROUP_BYTES
    for file in files:
        if group and (len(group) == GROUP_FILES or file.size > left_bytes):
            yield group
            group, left_bytes = [], GROUP_BYTES
        group.append(file)
        left_bytes -= file.size
    if group:
        yield group


class Batches:
    """Texts that are to be embedded, each once, in batches of about the same length.

    Args:
        known: chunk hashes that have a vector already.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._seen = set(known)
        self._texts: dict[str, str] = {}
        self._chars = 0
        self.texts_total = 0

    def add(self, texts: Mapping[str, str]) -> None:
        """Take up texts that have no vector and were not taken up before."""
        for chunk_hash, text in texts.items():
            if chunk_hash not in self._seen:
                self._seen.add(chunk_hash)
                self._texts[chunk_hash] = text
                self._chars += len(text)
                self.texts_total += 1

    def ready(self, *, all_there: bool) -> Iterator[dict[str, str]]:
        """Batches; none while there are too few texts to put in order, unless those are all."""
        full = max(self._chars / BATCH_CHARS, len(self._texts) / BATCH_TEXTS)
        if full < _BATCHES_IN_ORDER and not all_there:
            return
        ordered = sorted(self._texts.items(), key=lambda item: len(item[1]), reverse=True)
        self._texts, self._chars = {}, 0
        batch: dict[str, str] = {}
        chars = 0
        for chunk_hash, text in ordered:
            if batch and (chars + len(text) > BATCH_CHARS or len(batch) == BATCH_TEXTS):
                yield batch
                batch, chars = {}, 0
            batch[chunk_hash] = text
            chars += len(text)
        if batch:
            yield batch
