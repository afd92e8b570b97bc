"""An index on object storage: what is shared is beside the table there, the rest on this machine.

Shared are the hold, why each version exists, what was said of checkpoints, which model is planned,
and the lock. On each machine are its vector cache and what it saw of its own files. Objects are
written whole or not at all, so that nothing here can be torn.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path

from lancebrain.errors import StoreError

from .failures import translated
from .garbage import lost
from .manifests import manifest_file, version_in
from .object_lock import ObjectLock
from .objects import Objects, Seen, SupersededError
from .schema import TABLE_NAME

_TABLE = f"{TABLE_NAME}.lance"
_VERSIONS = f"{_TABLE}/_versions"
_PROBE = "probe"


class ObjectStorage:
    """The storage of an index on object storage, see :class:`lancebrain.store.storage.Storage`.

    Args:
        uri: of the index.
        options: for LanceDB.
        folder: what this machine keeps of it.
        refresh_s: how old what is read may be, but for the holder of the lock.
    """

    is_shared = True

    def __init__(
        self, uri: str, options: Mapping[str, str], folder: Path, *, refresh_s: float
    ) -> None:
        self.uri = uri.rstrip("/")
        self.options = options
        self.folder = folder
        self._refresh_s = refresh_s
        self._objects = Objects(self.uri, options)
        self._lock = ObjectLock(self._objects, self)
        self._read: dict[str, tuple[float, Seen | None]] = {}
        with translated(folder, "making the folder"):
            folder.mkdir(parents=True, exist_ok=True)

    def __str__(self) -> str:
        return self.uri

    def prepare(self) -> None:
        """Find out whether a conditional write is one here: else two could write at a time."""
        name = f"{_PROBE}-{uuid.uuid4().hex}"
        with translated(self, "trying to write there"):
            seen = self._objects.put_if(name, b"1", None)
            try:
                self._objects.put_if(name, b"2", seen)
                for before in (None, seen):
                    try:
                        self._objects.put_if(name, b"3", before)
                    except SupersededError:
                        continue
                    raise StoreError(
                        f"The storage at {self.uri} writes over an object where it was told not "
                        "to, so that two who write at a time would spoil the index.",
                        hint="Use one with conditional writes (If-None-Match, If-Match), such as "
                        "S3, GCS, Azure, or a newer version of yours.",
                    )
            finally:
                self._objects.delete([name])

    def lock(self) -> ObjectLock:
        return self._lock

    def is_due(self, asked_at: float) -> bool:
        return self._lock.is_held or time.monotonic() - asked_at >= self._refresh_s

    def read(self, name: str, start: int = 0) -> bytes | None:
        asked_at, seen = self._read.get(name, (None, None))
        if asked_at is None or self.is_due(asked_at):
            asked_at = time.monotonic()
            seen = self._objects.get(name, unless=seen)
            self._read[name] = (asked_at, seen)
        return None if seen is None else seen.content[start:]

    def write(self, name: str, text: str) -> None:
        with translated(self, f"writing {name}"):
            self._read[name] = (time.monotonic(), self._objects.put(name, text.encode()))

    def append(self, name: str, line: str) -> None:
        before = self.read(name) or b""
        self.write(name, before.decode() + line)

    def remove(self, name: str) -> None:
        self._objects.delete([name])
        self._read[name] = (time.monotonic(), None)

    def has_table(self) -> bool:
        return any(True for _ in self._objects.listed(_VERSIONS))

    def table_identity(self) -> Hashable | None:
        return None

    def made_at(self) -> dict[int, datetime]:
        found = self._objects.listed(_VERSIONS)
        versions = ((version_in(one.name), one.modified_at) for one in found)
        return {version: at for version, at in versions if version is not None}

    def identity(self, version: int) -> Hashable | None:
        return self._objects.tag_of(_manifest(version))

    def drop_versions(self, versions: Iterable[int]) -> None:
        self._objects.delete(map(_manifest, versions))

    def collect(self, *, fragments: int) -> int:
        there = [one.name.removeprefix(f"{_TABLE}/") for one in self._objects.listed(_TABLE)]
        # The lock was still held when that was listed: nothing of it is of somebody's write that
        # is under way. What a version has that was made since is not among them.
        self._lock.renew()
        contents = []
        for version in sorted(self.made_at(), reverse=True):
            seen = self._objects.get(_manifest(version))
            if seen is not None:
                contents.append(seen.content)
        gone = lost(there, contents, where=self, fragments=fragments)
        self._objects.delete(f"{_TABLE}/{name}" for name in gone)
        return len(gone)

    def written(self, version: Callable[[], int]) -> AbstractContextManager[None]:
        return nullcontext()

    def bytes(self) -> int:
        return sum(one.size_bytes for one in self._objects.listed())


def _manifest(version: int) -> str:
    return manifest_file(Path(_TABLE), version).as_posix()
