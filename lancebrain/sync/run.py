"""One sync: a look, then batches until nothing is left to do.

Each batch takes the lock, works against the newest version and lets go. So several processes can
sync one index, other work goes in between, and a crash leaves whole batches behind.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from lancebrain.errors import EmbedderError
from lancebrain.store import Checkpoints, DocumentStat, Snapshot, Store
from lancebrain.types import Problem, Progress, SourceFile, SyncReport

from .ahead import Ahead, Here
from .batch import Batch
from .collector import Change, Collector
from .gitwork import taken_away
from .known import Documents, KnownDocuments
from .look import Look, look
from .lookrecord import LookRecord
from .removals import is_mass
from .vectors import Vectors, missing
from .wanted import Wanted

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.sources import IgnoreRules

SMALL = 100
"""Up to so many texts are embedded before the commit; more are committed as text first."""

_BATCH_ROWS = 4_000
_BATCH_ROWS_WHILE_ASKED = 2_000
"""Rows that were just committed are outside the indices for a moment, and a thousand of them cost a
question 50 ms."""
_BATCH_BYTES = 16 * 1024 * 1024
_BATCH_S = 2.0
_AHEAD_ROWS = 200_000
"""Of one commit, where everything was made before: about a gigabyte of memory."""
_GROUP_BYTES = 1024 * 1024
_GROUP_PATHS = 128
_GROUP_PATHS_WHILE_ASKED = 32
"""Reading more takes a quarter of a second, in which a question takes twice its time."""

# Telling the rows that files were looked at again makes a version by itself only where looking
# once more each time would cost more.
_REFRESH_FILES = 256
_REFRESH_BYTES = 16 * 1024 * 1024

_COUNTED = (
    "added",
    "changed",
    "moved",
    "removed",
    "unchanged",
    "rows_written",
    "rows_deleted",
    "reused",
)
_T = TypeVar("_T")


class Run:
    """A sync in the making.

    Attributes:
        embedded: texts that the model was given.
        committed: whether anything was written.
        text_first: whether rows were written that still lack their vector.
        folders, rules, states: what the look found, see :class:`lancebrain.sync.look.Look`.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        vectors: Vectors,
        known: KnownDocuments,
        clock: Callable[[], int],
        wanted: Wanted,
        *,
        progress: Callable[[Progress], None],
        on_change: Callable[[Change], None],
        ahead: Ahead | None = None,
        is_asked: Callable[[], bool],
    ) -> None:
        self._store = store
        self._settings = settings
        self._vectors = vectors
        self._known = KnownDocuments() if wanted.dry_run else known
        self._clock = clock
        self._wanted = wanted
        self._progress = progress
        self._on_change = on_change
        self._ahead = ahead
        self._is_asked = is_asked
        self._started = time.monotonic()
        self._moves: deque[tuple[str, SourceFile]] = deque()
        self._removals: deque[str] = deque()
        self._files: deque[SourceFile] = deque()
        self._files_total = 0
        self._again: list[str] = []
        self._counts: Counter[str] = Counter()
        self._problems: list[Problem] = []
        self._unread: list[Problem] = []
        self._version = store.version
        self.folders: list[str] = []
        self.rules: dict[str, IgnoreRules] = {}
        self.states: dict[str, str] = {}
        self.embedded = 0
        self.committed = False
        self.text_first = False

    def steps(self) -> Iterator[None]:
        """Do the work; a step is one batch under its own lock.

        The look and the first batch are one step, so that a small sync is one commit of what was
        seen under one lock.
        """
        self._progress(Progress("look"))
        yield from self._pass(self._wanted.scope)
        if self._again:
            again, self._again = tuple(self._again), []
            yield from self._pass(again)

    @property
    def is_done(self) -> bool:
        """Whether all that the look found is taken in."""
        return not self._is_left() and not self._again

    def report(self) -> SyncReport:
        """What was done so far."""
        return SyncReport(
            version=self._version,
            embedded=self.embedded,
            problems=tuple(dict.fromkeys(self._problems)),
            seconds=time.monotonic() - self._started,
            **{name: self._counts[name] for name in _COUNTED},
        )

    def _pass(self, scope: Sequence[str] | None) -> Iterator[None]:
        is_fresh = True
        explained: set[str] | None = None
        while is_fresh or self._is_left():
            waiting: Mapping[str, Sequence[str]] = {}
            with self._lock():
                if self._is_held():
                    return
                snapshot = self._store.snapshot()
                self._version = snapshot.version
                known = self._known.at(snapshot, self._store.info.table_id)
                if is_fresh:
                    found = self._look(known, scope, explained or ())
                    waiting = found.waiting if explained is None else {}
                    if not waiting:
                        self._take_up(found)
                        self._keep_before_removals(snapshot, known)
                if not waiting:
                    self._batch(snapshot, known, is_fresh=is_fresh)
                    if self.committed:
                        # Questions come meanwhile, and read every row outside the indices.
                        self._store.ensure_indices()
                    if not self._is_left():
                        self._finish(scope)
            if waiting:
                explained = self._explained(waiting)
                continue
            is_fresh = False
            yield

    def _explained(self, waiting: Mapping[str, Sequence[str]]) -> set[str]:
        """Documents that git took the file of. It is asked outside of the lock, and the files
        are looked at once more after that."""
        sources = {source.name: source for source in self._settings.sources}
        return {
            path for name, paths in waiting.items() for path in taken_away(sources[name], paths)
        }

    def _look(
        self,
        known: Documents,
        scope: Sequence[str] | None,
        explained: Collection[str],
    ) -> Look:
        return look(
            self._settings,
            known,
            self._clock,
            scope=scope,
            agreed=self._wanted.agreed,
            dropped=self._wanted.dropped,
            seen_gone={*self._wanted.seen_gone, *explained},
            left_out=self._store.forgotten.matcher(),
        )

    def _take_up(self, found: Look) -> None:
        self.folders += found.folders
        self.rules |= found.rules
        self.states |= found.states
        self._counts["unchanged"] += found.unchanged
        self._problems += found.problems
        self._unread += found.problems
        self._moves.extend(found.moved)
        self._removals.extend(found.removed)
        self._files.extend(found.changed)
        self._files_total = len(found.moved) + len(found.changed)

    def _keep_before_removals(self, snapshot: Snapshot, known: Mapping[str, DocumentStat]) -> None:
        """Name the version before many documents go, so that it stays."""
        if not self._wanted.dry_run and is_mass(len(self._removals), known=len(known)):
            now = datetime.fromtimestamp(self._clock() / 1e9, UTC)
            Checkpoints(self._store).create_automatic("removals", snapshot.version, at=now)

    def _batch(
        self, snapshot: Snapshot, known: Mapping[str, DocumentStat], *, is_fresh: bool
    ) -> None:
        """Commit what is next.

        Args:
            is_fresh: the look was under the same lock.
        """
        started = time.monotonic()
        batch = Batch(self._clock())
        collector = Collector(
            snapshot,
            known,
            batch,
            self._settings,
            self._clock,
            self._on_change,
            self._ahead or Here(),
        )
        while self._is_left() and self._has_room(batch, collector, started):
            left = self._group(collector)
            if not is_fresh:
                # Their files may be back since the look: a branch was switched there and back.
                self._again += left
        refreshed_bytes = sum(state.size for state in batch.refreshable)
        if (
            len(batch)
            or len(batch.refreshable) > _REFRESH_FILES
            or refreshed_bytes > _REFRESH_BYTES
        ):
            batch.take_refreshed()
        if len(batch):
            self._commit(snapshot, batch, started)
        self._counts["unchanged"] += collector.unchanged
        self._again += collector.vanished
        self._problems += collector.problems
        self._unread += collector.unread

    def _has_room(self, batch: Batch, collector: Collector, started: float) -> bool:
        """Whether more goes into a commit."""
        if self._ahead is not None:
            return len(batch) < _AHEAD_ROWS
        return (
            len(batch) < (_BATCH_ROWS_WHILE_ASKED if self._is_asked() else _BATCH_ROWS)
            and collector.read_bytes < _BATCH_BYTES
            and time.monotonic() - started < _BATCH_S
        )

    def _group(self, collector: Collector) -> list[str]:
        """Hand on what a few queries can serve; the places that are taken out of the index."""
        left: list[str] = []
        if self._moves:
            moves = _take(self._moves, lambda move: move[1].size, _GROUP_PATHS)
            collector.move(moves)
            left = [old for old, _ in moves]
        elif self._removals:
            left = _take(self._removals, lambda _: _GROUP_BYTES // _GROUP_PATHS, _GROUP_PATHS)
            collector.remove(left)
        else:
            most = _GROUP_PATHS_WHILE_ASKED if self._is_asked() else _GROUP_PATHS
            collector.read(_take(self._files, lambda file: file.size, most))
        done = self._files_total - len(self._moves) - len(self._files)
        self._progress(Progress("read", files=done, files_total=self._files_total))
        return left

    def _commit(self, snapshot: Snapshot, batch: Batch, started: float) -> None:
        hashes = batch.hashes()
        keep = () if self._wanted.dry_run else batch.dropped.difference(hashes)
        vectors = self._vectors.known(snapshot, set(hashes), keep=keep)
        lacking = missing(hashes, vectors)
        if self._wanted.dry_run:
            self._count(batch, embedded=len(lacking), reused=len(hashes) - len(lacking))
            return
        if len(lacking) <= SMALL and not self._wanted.text_only:
            # A text that the model fails on is found by its words all the same. The filling in
            # that follows tries again, and tells.
            with suppress(EmbedderError):
                vectors |= self._vectors.embed(batch.texts(lacking))
        embedded = sum(chunk_hash in vectors for chunk_hash in lacking)
        reused = sum(chunk_hash in vectors for chunk_hash in hashes) - embedded
        counts = {**batch.counts, "embedded": embedded, "reused": reused}
        self._version = self._store.commit(
            batch.rows(vectors), reason="sync", counts=counts, started=started
        )
        identity = self._store.storage.identity(self._version)
        self._known.committed(self._version, identity, batch.documents, batch.left)
        self.committed = True
        self.text_first |= embedded < len(lacking)
        self._count(batch, embedded=embedded, reused=reused)

    def _count(self, batch: Batch, *, embedded: int, reused: int) -> None:
        self._counts.update(batch.counts)
        self._counts["reused"] += reused
        self.embedded += embedded

    def _finish(self, scope: Sequence[str] | None) -> None:
        if scope is None and not self._wanted.dry_run:
            LookRecord(self._store.folder).write(self._unread)

    def _is_left(self) -> bool:
        return bool(self._moves or self._removals or self._files)

    def _is_held(self) -> bool:
        """Whether the index is held at an older version, where sync must not undo it."""
        hold = self._store.hold.read()
        if hold is not None:
            self._problems.append(
                Problem(
                    "",
                    "pinned",
                    f"The index is pinned at {hold.ref}, so nothing is synced. To follow the "
                    "files again: lancebrain resume",
                )
            )
        return hold is not None

    def _lock(self) -> AbstractContextManager[None]:
        if self._wanted.dry_run:
            return nullcontext()
        return self._store.lock(self._settings.lock_timeout_s)


def _take(queue: deque[_T], size_of: Callable[[_T], int], most: int) -> list[_T]:
    """The next few from a queue: one at least, and no more than ``most`` and a group's bytes."""
    taken: list[_T] = []
    left_bytes = _GROUP_BYTES
    while queue and len(taken) < most and (not taken or size_of(queue[0]) <= left_bytes):
        taken.append(queue.popleft())
        left_bytes -= size_of(taken[-1])
    return taken
