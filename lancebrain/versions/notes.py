"""Writing notes back to disk as a version has them: the very bytes, checked by their hash."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lancebrain.errors import StoreError, UsageError
from lancebrain.kinds import MARKDOWN, TEXT
from lancebrain.readers.decode import encode
from lancebrain.readers.secrets import MASKED
from lancebrain.sources import file_of
from lancebrain.store import Snapshot, Store
from lancebrain.types import DocumentState, Source
from lancebrain.versions.documents import find_documents

_WRITTEN_BACK = frozenset({MARKDOWN, TEXT})

_SAME = "the file is the same already"


@dataclass(frozen=True, slots=True)
class RestoredFile:
    """A note that was written back, or would be.

    Attributes:
        path: document path.
        file: where it was written.
        version: that it was taken from.
        done: False where the file was left alone.
        why: the reason for that.
        is_same: the file was the same already.
    """

    path: str
    file: str
    version: int
    done: bool
    why: str = ""
    is_same: bool = False


class NoteRestorer:
    """Brings notes back from the versions of an index.

    Args:
        store: the index.
        sources: where documents belong on disk.
    """

    def __init__(self, store: Store, sources: Sequence[Source]) -> None:
        self._store = store
        self._sources = {source.name: source for source in sources}

    def restore(
        self,
        pattern: str,
        *,
        version: int | None = None,
        to: Path | None = None,
        overwrite: bool = False,
        dry_run: bool = False,
    ) -> list[RestoredFile]:
        """Write documents back to their places.

        Args:
            pattern: a document path, a folder (``notes/2026/``) or a glob.
            version: to take them from; None: for each the newest version that has it.
            to: another file to write to, for one document.
            overwrite: also in place of a file with other content.
            dry_run: write nothing.

        Returns:
            One entry a document that matches, by path; also those that were left alone.

        Raises:
            UsageError: no version has such a document, or ``to`` was given for several.
            StoreError: a file cannot be read or written.
        """
        found = find_documents(self._store, pattern, version=version)
        if not found:
            where = "any version that is kept" if version is None else f"version {version}"
            raise UsageError(
                f"No document {pattern!r} is in {where}.",
                hint="Paths begin with the source's name: see `lancebrain diff` and `history`.",
            )
        if to is not None and len(found) > 1:
            raise UsageError(f"{pattern!r} is {len(found)} documents, and --to is one file.")
        return [
            self._restore(state, snapshot, to, overwrite=overwrite, dry_run=dry_run)
            for state, snapshot in found.values()
        ]

    def _restore(
        self,
        state: DocumentState,
        snapshot: Snapshot,
        to: Path | None,
        *,
        overwrite: bool,
        dry_run: bool,
    ) -> RestoredFile:
        file = to or self._place(state)
        left = self._reason_to_leave(state, file, overwrite=overwrite)
        if left is None:
            data = _bytes_of(state, snapshot)
            if data is None:
                left = "what the index holds is not the file: lancebrain doctor --deep"
            elif not dry_run:
                _write(file, data)
        return RestoredFile(
            path=state.path,
            file=str(file),
            version=snapshot.version,
            done=left is None,
            why=left or "",
            is_same=left == _SAME,
        )

    def _place(self, state: DocumentState) -> Path:
        source = self._sources.get(state.source)
        if source is None:
            raise UsageError(
                f"The source {state.source!r} of {state.path} is not configured any more.",
                hint="Name a file with --to.",
            )
        file = file_of(source, state.path)
        if not file.parent.resolve().is_relative_to(source.root.resolve()):
            raise UsageError(f"{file} leads out of the source {source.name!r} by a symlink.")
        return file

    def _reason_to_leave(self, state: DocumentState, file: Path, *, overwrite: bool) -> str | None:
        if state.kind not in _WRITTEN_BACK:
            return "the index holds what was said in it, not the file"
        if state.mime.endswith(MASKED) and "masked_secrets" in json.loads(state.metadata_json):
            return "its secrets are masked in the index"
        try:
            here = hashlib.sha256(file.read_bytes()).hexdigest()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from error
        if here == state.sha256:
            return _SAME
        return None if overwrite else "another file is there: --overwrite to replace it"


def _bytes_of(state: DocumentState, snapshot: Snapshot) -> bytes | None:
    """The bytes of a document's file as the index holds them; None if they are not those that
    were read then."""
    if state.raw is not None:
        data = state.raw
    else:
        chunks = snapshot.chunks([state.path]).get(state.path, ())
        data = encode("".join(stored.chunk.text for stored in chunks), state.encoding)
    return data if hashlib.sha256(data).hexdigest() == state.sha256 else None


def _write(file: Path, data: bytes) -> None:
    """Put a whole file in place at once; an existing one keeps its permissions."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o666 & ~_umask()
        descriptor, fresh = tempfile.mkstemp(dir=file.parent, prefix=".lancebrain-", suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(fresh).chmod(mode)
            Path(fresh).replace(file)
        except BaseException:
            Path(fresh).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from error


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
