"""Forgetting documents: out of the rows, the indices, every version and the vector cache, for
good; and out of every look that follows.

First an entry says that they are to stay out, so that no sync takes them in again. Then the table
is written anew from the newest version and those with a name, without the documents; versions
without a name go. A crash leaves the old table or the new one, and the entry tells that it is not
done.
"""

from __future__ import annotations

import shlex
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime

from lancebrain.errors import UsageError
from lancebrain.store import Checkpoint, Checkpoints, Store
from lancebrain.types import Filter, Problem
from lancebrain.versions.documents import find_documents, no_document
from lancebrain.versions.proof import Proof, distinctive_lines, prove
from lancebrain.versions.wayback import name_way_back


@dataclass(frozen=True, slots=True)
class RewrittenVersion:
    """A version that was written anew, or would be.

    Attributes:
        before: its number before.
        version: its number now; of a dry run, the same.
        tags: its checkpoints.
        removed: how many of the documents it held.
    """

    before: int
    version: int
    tags: tuple[str, ...]
    removed: int


@dataclass(frozen=True, slots=True)
class Forgot:
    """What was forgotten, or would be.

    Attributes:
        paths: what stays out from now on: documents, folders, globs.
        documents: that were in the index.
        rewritten: the versions that are left, oldest first.
        versions_dropped: others, without a checkpoint, that went.
        tables_dropped: damaged tables set aside earlier, which nobody can look into.
        copies: documents of the very same bytes that stay, under other paths.
        version: the newest now.
        proof: that nothing is left, where it was asked for.
    """

    paths: tuple[str, ...]
    documents: tuple[str, ...]
    rewritten: tuple[RewrittenVersion, ...]
    versions_dropped: int
    tables_dropped: int
    version: int
    copies: tuple[str, ...] = ()
    proof: Proof | None = None
    seconds: float = 0.0


def forget(
    store: Store,
    paths: Sequence[str],
    *,
    now: datetime,
    lock_timeout_s: float,
    verify: bool = False,
    dry_run: bool = False,
) -> Forgot:
    """Take documents out of the index for good, and keep them out. No file is touched.

    Needs room for a second table meanwhile.

    Args:
        paths: document paths, folders (``notes/private/``) or globs.
        now: UTC-aware.
        lock_timeout_s: how long to wait for a sync that is under way.
        verify: look through everything in the index folder afterwards.
        dry_run: only tell what would be done.

    Raises:
        UsageError: no version has such a document.
        IndexLockedError: another process held the lock for longer.
        StoreError: the index cannot be written; it is as it was.
    """
    started = time.monotonic()
    with store.lock(lock_timeout_s):
        documents = _documents(store, paths)
        kept, copies = _kept(store, documents)
        others = len(store.versions()) - len(kept)
        if dry_run:
            same = tuple(RewrittenVersion(v, v, tags, count) for v, (tags, count) in kept.items())
            version = store.snapshot().version
            return Forgot(tuple(paths), documents, same, others, 0, version, copies)
        lines = distinctive_lines(store, paths, documents) if verify else ()
        with ExitStack() as undo:
            unfinished = {entry.path for entry in store.forgotten.read() if not entry.done}
            store.forgotten.add(paths, now)
            undo.callback(store.forgotten.remove, set(paths) - unfinished)
            name_way_back(store, "forget", max(kept), now=now, undo=undo)
            counts = {"removed": len(documents), "versions_removed": others}
            done = store.rewrite(kept, without=documents, counts=counts, started=started)
            undo.pop_all()
        store.vector_cache.clear()
        store.staged.drop()
        tables_dropped = store.drop_set_aside()
        store.forgotten.finish(paths)
        proof = prove(store, lines, documents) if verify else None
    names = Checkpoints(store).by_version()
    rewritten = tuple(
        RewrittenVersion(before, done.numbers[before], _names(names, done.numbers[before]), count)
        for before, (_, count) in kept.items()
    )
    return Forgot(
        paths=tuple(paths),
        documents=documents,
        rewritten=rewritten,
        versions_dropped=done.dropped,
        tables_dropped=tables_dropped,
        version=done.version,
        copies=copies,
        proof=proof,
        seconds=time.monotonic() - started,
    )


def allow(store: Store, paths: Sequence[str], *, lock_timeout_s: float) -> None:
    """Let what was forgotten in again, with the next sync.

    Raises:
        UsageError: one of the paths was not forgotten.
    """
    with store.lock(lock_timeout_s):
        there = [entry.path for entry in store.forgotten.read()]
        for path in paths:
            if path not in there:
                raise UsageError(
                    f"{path!r} was not forgotten.",
                    hint=f"What was: {', '.join(map(shlex.quote, there))}."
                    if there
                    else "Nothing was: the next sync takes in all there is.",
                )
        store.forgotten.remove(paths)


def unfinished(store: Store) -> tuple[Problem, ...]:
    """Tell of what was to be forgotten and may not be gone yet."""
    return tuple(
        Problem(
            entry.path,
            "forget-cut-short",
            f"Forgetting {entry.path} was cut short, so that older versions may still hold it. "
            f"Do it again: lancebrain forget {shlex.quote(entry.path)}",
        )
        for entry in store.forgotten.read()
        if not entry.done
    )


def _documents(store: Store, paths: Sequence[str]) -> tuple[str, ...]:
    asked_before = {entry.path: entry.done for entry in store.forgotten.read()}
    versions = {*store.tags().values(), store.snapshot().version}
    documents: set[str] = set()
    for path in paths:
        # Of what stays, every version is asked, whatever its record says of it.
        found = {p for v in versions for p in store.snapshot(v).matching(Filter(path=path))}
        found |= find_documents(store, path).keys()
        documents |= found
        if found or asked_before.get(path) is False:
            continue
        if path not in asked_before:
            raise no_document(store, path)
        raise UsageError(
            f"{path!r} is forgotten already, and no version has such a document.",
            hint="See what stays out with `lancebrain forget --list`. To prove it, --verify goes "
            "into the command that forgets.",
        )
    return tuple(sorted(documents))


def _kept(
    store: Store, documents: Collection[str]
) -> tuple[dict[int, tuple[tuple[str, ...], int]], tuple[str, ...]]:
    """The newest version and those with a name, oldest first: their names, and how many of the
    documents each holds; and other documents in them that have the bytes of a forgotten one."""
    names = Checkpoints(store).by_version()
    forgotten = set(documents)
    kept = {}
    hashes: set[str] = set()
    others: defaultdict[str, set[str]] = defaultdict(set)
    for version in sorted({*names, store.snapshot().version}):
        stats = store.snapshot(version).stats()
        kept[version] = (_names(names, version), len(forgotten & stats.keys()))
        for path, stat in stats.items():
            if path not in forgotten:
                others[stat.sha256].add(path)
            elif stat.size:
                hashes.add(stat.sha256)
    copies = {path for sha256 in hashes for path in others[sha256]}
    return kept, tuple(sorted(copies))


def _names(checkpoints: Mapping[int, Sequence[Checkpoint]], version: int) -> tuple[str, ...]:
    return tuple(checkpoint.name for checkpoint in checkpoints.get(version, ()))
