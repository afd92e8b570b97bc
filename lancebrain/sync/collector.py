"""From files and gone documents to a batch: read, hash, parse, plan.

The engine hands it a few files at a time, under the lock and against the newest snapshot, so
that what another process committed meanwhile is never undone by what was seen before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lancebrain.kinds import LOGS
from lancebrain.store import DocumentStat, Snapshot
from lancebrain.store.filters import one_of
from lancebrain.types import DOCUMENT_ROW, Problem, SourceFile, StoredChunk

from .ahead import Ahead, Here
from .batch import Batch
from .documents import Parsed, at_place, kind_for, parse_appended
from .manner import REFUSED, Manner
from .planner import NOTHING, plan_chunks
from .reading import Reading, Vanished, read_file

if TYPE_CHECKING:
    from lancebrain.config import Settings

_Read = tuple[SourceFile, Reading]


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one document; a dry run shows these.

    Attributes:
        what: ``added``, ``changed``, ``moved``, ``removed``.
        path: of the document, after the change.
        before: its path before a move.
        chunks_written, chunks_removed: of its rows.
    """

    what: str
    path: str
    before: str | None = None
    chunks_written: int = 0
    chunks_removed: int = 0


@dataclass(slots=True)
class Collector:
    """Adds documents to one batch.

    Args:
        snapshot: the newest version.
        known: its documents.
        settings: how files are read.
        clock: the wall clock in nanoseconds.
        on_change: is told of each document.
        ahead: parses files, or did before.

    Attributes:
        problems: met while reading, in order.
        unread: those of them that no document row tells of.
        vanished: document paths whose file was gone when it should have been read.
        unchanged: documents whose files had the bytes that the table knows.
        read_bytes: of the files that were read.
    """

    snapshot: Snapshot
    known: Mapping[str, DocumentStat]
    batch: Batch
    settings: Settings
    clock: Callable[[], int]
    on_change: Callable[[Change], None]
    ahead: Ahead = field(default_factory=Here)
    problems: list[Problem] = field(default_factory=list)
    unread: list[Problem] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    unchanged: int = 0
    read_bytes: int = 0

    def read(self, files: Sequence[SourceFile]) -> None:
        """Take up files that are new or may have changed."""
        changed: list[_Read] = []
        same: list[_Read] = []
        for file in files:
            reading = self._reading(file)
            if reading is not None:
                stat = self.known.get(file.path)
                same_as_known = stat is not None and self._is_same(file, reading, stat)
                group = same if same_as_known else changed
                group.append((file, reading))
        self._look_again(same)
        changed = [item for item in changed if not self._append(*item)]
        stored = self._stored([file.path for file, _ in changed if file.path in self.known])
        for file, reading in changed:
            try:
                self._put(file, reading, stored.get(file.path, []))
            except Vanished:
                self.vanished.append(file.path)

    def move(self, moves: Sequence[tuple[str, SourceFile]]) -> None:
        """Take up documents that are now elsewhere with the same bytes.

        What is not so any more is read like any other file; the old place is left to the next
        look then.
        """
        states = self.snapshot.documents([old for old, _ in moves])
        stored = self._stored(list(states))
        for old, file in moves:
            state = states.get(old)
            reading = None if state is None or file.path in self.known else self._reading(file)
            if state is None or reading is None or reading.sha256 != state.sha256:
                self.read([file])
                continue
            rows = stored.get(old, [])
            read_so = Manner(file.source, self.settings).is_of(state.kind, state.mime)
            if read_so and state.kind == kind_for(file, reading):
                chunks = tuple(row.chunk for row in rows)
                parsed = Parsed(at_place(state, file, reading), chunks)
            else:
                parsed = self.ahead.parse(file, reading, self.settings)
            plan = plan_chunks(rows, parsed.chunks, rewrite=True)
            self.batch.document(parsed.state, replace(plan, removed=()))
            self.batch.leave(old, [row.chunk_index for row in rows], dropped=())
            self._done(parsed, Change("moved", file.path, old, len(plan.writes)))

    def remove(self, paths: Sequence[str]) -> None:
        """Take out documents without a file."""
        table = self.snapshot.to_arrow(
            ["path", "chunk_index", "chunk_hash"], where=one_of("path", paths)
        )
        rows: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for path, chunk_index, chunk_hash in zip(
            *(column.to_pylist() for column in table.itercolumns()), strict=True
        ):
            rows[path] += [] if chunk_index == DOCUMENT_ROW else [(chunk_index, chunk_hash)]
        for path, chunks in rows.items():
            self.batch.leave(path, [number for number, _ in chunks], {h for _, h in chunks})
            self._count(Change("removed", path, chunks_removed=len(chunks)))

    def _append(self, file: SourceFile, reading: Reading) -> bool:
        """Take up what was appended to a session log; False if the file is to be read anew.

        Of its rows only the last is touched: the lines of the file behind it may be its own.
        """
        stat = self.known.get(file.path)
        if stat is None or file.source.kind not in LOGS or stat.domain != file.source.domain:
            return False
        last = self._last_row(file.path)
        try:
            before = self.snapshot.documents([file.path])[file.path]
            appended = last and parse_appended(file, reading, before, self.settings)
        except Vanished:
            return False  # the reading anew finds out
        if not last or not appended:
            return False
        parsed, lines = appended
        grown = replace(last.chunk, line_count=last.chunk.line_count + lines)
        plan = plan_chunks([last], [grown, *parsed.chunks])
        self.batch.document(parsed.state, plan)
        self._done(parsed, Change("changed", file.path, None, len(plan.writes)))
        return True

    def _last_row(self, path: str) -> StoredChunk | None:
        numbers = self.snapshot.to_arrow(["chunk_index"], where=one_of("path", [path]))
        last = max(numbers["chunk_index"].to_pylist(), default=DOCUMENT_ROW)
        return None if last == DOCUMENT_ROW else self.snapshot.rows([(path, last)])[path, last]

    def _put(
        self,
        file: SourceFile,
        reading: Reading,
        rows: Sequence[StoredChunk],
    ) -> None:
        before = self.known.get(file.path)
        parsed = self.ahead.parse(file, reading, self.settings)
        ruled_otherwise = before is not None and (before.domain, before.kind) != (
            parsed.state.domain,
            parsed.state.kind,
        )
        plan = plan_chunks(rows, parsed.chunks, rewrite=ruled_otherwise)
        self.batch.document(parsed.state, plan)
        what = "added" if before is None else "changed"
        self._done(parsed, Change(what, file.path, None, len(plan.writes), len(plan.removed)))

    def _done(self, parsed: Parsed, change: Change) -> None:
        self.problems += parsed.state.problems
        self._count(change)

    def _count(self, change: Change) -> None:
        self.batch.counts[change.what] += 1
        self.on_change(change)

    def _look_again(self, same: Sequence[_Read]) -> None:
        """Tell the document rows of files with the same bytes when they were looked at."""
        if not same:
            return
        self.unchanged += len(same)
        states = self.snapshot.documents([file.path for file, _ in same])
        for file, reading in same:
            state = at_place(states[file.path], file, reading)
            seen = (reading.size, reading.mtime_ns, reading.ctime_ns)
            if seen == self.known[file.path][:3]:
                self.batch.refresh(state)
            else:
                self.batch.document(state, NOTHING)

    def _stored(self, paths: Sequence[str]) -> Mapping[str, Sequence[StoredChunk]]:
        return self.snapshot.chunks(paths) if paths else {}

    def _reading(self, file: SourceFile) -> Reading | None:
        try:
            reading = read_file(file, self.clock())
        except Vanished:
            self.vanished.append(file.path)
            return None
        if isinstance(reading, Problem):
            self.problems.append(reading)
            self.unread.append(reading)
            return None
        self.read_bytes += reading.size
        return reading

    def _is_same(self, file: SourceFile, reading: Reading, stat: DocumentStat) -> bool:
        return (
            reading.sha256 == stat.sha256
            and stat.domain == file.source.domain
            and stat.kind in (REFUSED, kind_for(file, reading))
            and Manner(file.source, self.settings).is_of(stat.kind, stat.mime)
        )
