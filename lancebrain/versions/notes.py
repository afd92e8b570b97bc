"""Writing notes back to disk as a version has them: the very bytes, checked by their hash."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lancebrain.errors import StoreError, UsageError
from lancebrain.kinds import LOGS, MARKDOWN, TEXT
from lancebrain.readers.decode import encode
from lancebrain.readers.secrets import MASKED
from lancebrain.sources import file_of
from lancebrain.store import Snapshot, Store
from lancebrain.types import DocumentState, Source
from lancebrain.versions.documents import Found, FoundDocument, find_documents, no_document

_WRITTEN_BACK = frozenset({MARKDOWN, TEXT})

_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
"""What keeps one file from being written and will keep every other."""


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
        moved_to: the path that it was left alone for: its own from the version after this one on.
    """

    path: str
    file: str
    version: int
    done: bool
    why: str = ""
    is_same: bool = False
    moved_to: str = ""


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

        Of a folder or a glob, documents that have another path now are left alone, unless the
        version is named.

        Args:
            pattern: a document path, a folder (``notes/2026/``) or a glob.
            version: to take them from; None: for each the newest version that has it.
            to: another file to write to, for one document.
            overwrite: also in place of a file with other content.
            dry_run: write nothing.

        Returns:
            One entry a document that matches, by path; also those that were left alone.

        Raises:
            UsageError: no version has such a document, or it has no place; nothing was written.
            StoreError: the disk is full or read-only.
        """
        found = find_documents(self._store, pattern, version=version)
        if not found:
            raise no_document(self._store, pattern, version=version)
        if to is not None:
            _check_one_file(to, pattern, found)
        # All places first: what is wrong with one of them is told before anything is written.
        places = {path: to or self._place(one.state) for path, one in found.items()}
        return [
            _restore(
                one,
                places[path],
                moved_to=one.moved_to if path != pattern else None,
                overwrite=overwrite,
                dry_run=dry_run,
            )
            for path, one in found.items()
        ]

    def _place(self, state: DocumentState) -> Path:
        source = self._sources.get(state.source)
        if source is None:
            raise UsageError(
                f"The source {state.source!r} of {state.path} is not configured any more.",
                hint=f"Add it again: lancebrain sources add FOLDER --name {state.source}; "
                "or write a single document elsewhere with --to FILE.",
            )
        file = file_of(source, state.path)
        if not file.parent.resolve().is_relative_to(source.root.resolve()):
            raise UsageError(
                f"{file} leads out of the source {source.name!r} by a symlink.",
                hint="Write it elsewhere: --to FILE.",
            )
        return file


def _check_one_file(to: Path, pattern: str, found: Found) -> None:
    if len(found) > 1:
        raise UsageError(
            f"{pattern!r} is {len(found)} documents, and --to is one file.",
            hint="Name one of them; without --to each is written to its own place.",
        )
    if to.is_dir():
        name = next(iter(found)).rsplit("/", 1)[-1]
        raise UsageError(f"{to} is a folder.", hint=f"Name a file in it: --to {to / name}")


def _restore(
    found: FoundDocument, file: Path, *, moved_to: str | None, overwrite: bool, dry_run: bool
) -> RestoredFile:
    state, version = found.state, found.snapshot.version
    told = partial(RestoredFile, state.path, str(file), version)
    try:
        here = _hash_of(file)
        if here == state.sha256:
            return told(False, "the file is the same already", is_same=True)
        if moved_to is not None:
            why = f"it is {moved_to} now; --at {version} brings it back here as well"
            return told(False, why, moved_to=moved_to)
        if here is not None and not overwrite:
            return told(False, "another file is there: --overwrite to replace it")
        data = _bytes_of(state, found.snapshot)
        if isinstance(data, str):
            return told(False, data)
        if not dry_run:
            _write(file, data)
    except OSError as error:
        if error.errno in _OF_THE_DISK:
            raise StoreError(
                f"{file} cannot be written: {error.strerror}.",
                hint="Make room, or the disk writable, and run it again: what was restored is "
                "left alone then.",
            ) from error
        return told(False, f"it cannot be written: {error.strerror or error}")
    return told(True)


def _hash_of(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def _bytes_of(state: DocumentState, snapshot: Snapshot) -> bytes | str:
    """The bytes of a document's file, or why the index does not hold them."""
    if state.kind in LOGS:
        return "the index holds what was said in it, not the file"
    if state.kind not in _WRITTEN_BACK:
        return "the index holds no text of it"
    if state.mime.endswith(MASKED) and "masked_secrets" in json.loads(state.metadata_json):
        return "its secrets are masked in the index"
    if state.raw is not None:
        data = state.raw
    else:
        chunks = snapshot.chunks([state.path]).get(state.path, ())
        try:
            data = encode("".join(stored.chunk.text for stored in chunks), state.encoding)
        except UnicodeEncodeError:
            data = b""
    if hashlib.sha256(data).hexdigest() != state.sha256:
        return "what the index holds is not the file: lancebrain doctor --deep"
    return data


def _write(file: Path, data: bytes) -> None:
    """Put a whole file in place at once; an existing one keeps its permissions."""
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


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
