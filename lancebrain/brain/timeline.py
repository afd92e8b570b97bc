"""The part of the facade that knows the index in time: back, forth, and gone for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lancebrain.brain.asking import Asking
from lancebrain.brain.asof import AsOf
from lancebrain.brain.roots import document_path_of
from lancebrain.types import Diff, Rollback, Version

if TYPE_CHECKING:
    from lancebrain.store import Checkpoint, Checkpoints, ForgottenEntry
    from lancebrain.versions import DocumentVersion, Forgot, Optimized, RestoredFile


class Timeline(Asking):
    """What can be done with versions; for references to one see :class:`Asking`."""

    def history(self, *, limit: int | None = None) -> list[Version]:
        """The versions that can be read, newest first, with the reason for each.

        Args:
            limit: how many at most.
        """
        from lancebrain.versions import history

        return history(self._access.store(), limit=limit)

    def document_history(self, path: str) -> list[DocumentVersion]:
        """The versions in which a document changed, newest first; none if no version has it."""
        from lancebrain.versions import document_history

        return document_history(self._access.store(), path)

    def diff(
        self, earlier: str, later: str = "latest", *, texts: bool = False, path: str | None = None
    ) -> Diff:
        """Which documents differ between two versions.

        Args:
            earlier, later: references.
            texts: also give the unified diff of the texts.
            path: of this document alone.

        Raises:
            UsageError: there is no such version.
        """
        from lancebrain.versions import diff

        return diff(self._snapshot(earlier), self._snapshot(later), texts=texts, path=path)

    def at(self, ref: str) -> AsOf:
        """An earlier version, to ask and to take data from as from the index itself.

        Args:
            ref: a reference.

        Raises:
            UsageError: there is no such version.
        """
        return AsOf(self, ref)

    def checkpoints(self) -> list[Checkpoint]:
        """The versions with a name, newest first."""
        return self._checkpoints().all()

    def checkpoint(self, name: str, message: str = "", *, look: bool = True) -> Checkpoint:
        """Name the current version, which then stays until the name is taken away.

        Args:
            name: letters, digits, ``.``, ``-`` and ``_``.
            message: what it is good for.
            look: take in what has changed on disk first; its vectors may follow later.

        Raises:
            UsageError: the name is taken, or would be read as something else.
            IndexLockedError: another process held the lock for longer than the settings allow.
        """
        self._checkpoints().check_name(name)
        if look and self.settings.sources:
            from lancebrain.sync import Wanted

            for _ in self._access.engine().run(Wanted(text_only=True)).steps():
                pass
        store = self._access.store()
        with store.lock(self._timeout_s):
            version = store.snapshot().version
            return self._checkpoints().create(name, version, at=datetime.now(UTC), message=message)

    def delete_checkpoint(self, name: str) -> None:
        """Take the name of a version away; the version goes when its time has come.

        Raises:
            UsageError: there is no such checkpoint.
        """
        with self._access.store().lock(self._timeout_s):
            self._checkpoints().delete(name)

    def rollback(self, ref: str, *, dry_run: bool = False) -> Rollback:
        """Make the index equal to an earlier version, and hold it there until
        :meth:`~lancebrain.brain.Brain.resume`.

        No file is touched. A checkpoint names the version before.

        Args:
            dry_run: only tell what would be done.

        Raises:
            UsageError: there is no such version.
            IndexLockedError: another process held the lock for longer than the settings allow.
            StoreError: the index cannot be written; it is as it was.
        """
        from lancebrain.versions import rollback

        return rollback(
            self._access.store(),
            ref,
            now=datetime.now(UTC),
            lock_timeout_s=self._timeout_s,
            dry_run=dry_run,
        )

    def restore(
        self,
        path: Path | str,
        *,
        at: str | None = None,
        to: Path | None = None,
        overwrite: bool = False,
        dry_run: bool = False,
    ) -> list[RestoredFile]:
        """Write notes back to disk, to the byte.

        Args:
            path: a document path, a folder, a glob, or a file of a source.
            at: the version to take them from; None: for each the newest that has it.
            to: another file to write to, for one document.
            overwrite: also in place of a file with other content.
            dry_run: write nothing.

        Returns:
            One entry a document that matches; also those that were left alone, and why.

        Raises:
            UsageError: no version has such a document.
            StoreError: a file cannot be read or written.
        """
        from lancebrain.versions import NoteRestorer, resolve

        store = self._access.store()
        restored = NoteRestorer(store, self.settings.sources).restore(
            self._document_path(path),
            version=None if at is None else resolve(store, at),
            to=to,
            overwrite=overwrite,
            dry_run=dry_run,
        )
        if to is None and not dry_run:
            self.mark_dirty(entry.file for entry in restored if entry.done)
        return restored

    def forget(
        self, paths: Sequence[Path | str], *, verify: bool = False, dry_run: bool = False
    ) -> Forgot:
        """Take documents out of every version for good, and keep them out. No file is touched.

        Versions without a checkpoint go, the others get new numbers.

        Args:
            paths: document paths, folders, globs, or files of a source.
            verify: look through everything in the index folder afterwards.
            dry_run: only tell what would be done.

        Raises:
            UsageError: no version has such a document.
            IndexLockedError: another process held the lock for longer than the settings allow.
            StoreError: the index cannot be written; it is as it was.
        """
        from lancebrain.sync.lookrecord import LookRecord
        from lancebrain.versions import forget

        store = self._access.store()
        forgot = forget(
            store,
            [self._document_path(path) for path in paths],
            now=datetime.now(UTC),
            lock_timeout_s=self._timeout_s,
            verify=verify,
            dry_run=dry_run,
        )
        is_out = store.forgotten.matcher()
        if not dry_run and is_out is not None:
            record = LookRecord(store.folder)
            with store.lock(self._timeout_s):
                record.write([problem for problem in record.read() if not is_out(problem.path)])
        return forgot

    def allow(self, paths: Sequence[Path | str]) -> None:
        """Let what was forgotten in again, with the next sync.

        Raises:
            UsageError: one of the paths was not forgotten.
        """
        from lancebrain.versions import allow

        documents = [self._document_path(path) for path in paths]
        allow(self._access.store(), documents, lock_timeout_s=self._timeout_s)

    def forgotten(self) -> list[ForgottenEntry]:
        """What stays out."""
        return self._access.store().forgotten.read()

    def optimize(self, *, dry_run: bool = False) -> Optimized:
        """Clean up old versions and make searches quick; goes by itself when it pays.

        Args:
            dry_run: only tell what would be done.

        Raises:
            IndexLockedError: another process held the lock for longer than the settings allow.
            StoreError: the index cannot be written.
        """
        from lancebrain.versions import optimize

        return optimize(
            self._access.store(),
            keep_versions=timedelta(days=self.settings.keep_versions_days),
            now=datetime.now(UTC),
            lock_timeout_s=self._timeout_s,
            dry_run=dry_run,
        )

    @property
    def _timeout_s(self) -> float:
        return self.settings.lock_timeout_s

    def _checkpoints(self) -> Checkpoints:
        from lancebrain.store import Checkpoints

        return Checkpoints(self._access.store())

    def _document_path(self, path: Path | str) -> str:
        """A document path, folder or glob as it is; what is below a source's root, as one."""
        given = str(path)
        names = {source.name for source in self.settings.sources}
        inside = document_path_of(self.settings.sources, given)
        if given.partition("/")[0] in names or inside is None:
            return given
        return f"{inside}/" if given.endswith("/") else inside
