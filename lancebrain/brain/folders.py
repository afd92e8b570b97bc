"""Changing one file of a source so that nothing outside of it can be reached, and none is half.

Every folder on the way is opened by its own name relative to the one before, never through a
symlink, so that a link put there in between leads nowhere. The new text is written beside the
file and takes its name in one step.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from lancebrain.errors import StoreError, UsageError

_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_LINK_ERRORS = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


class FolderOf:
    """The folder of one file, held open.

    Attributes:
        name: of the file in it.
    """

    def __init__(self, descriptor: int, name: str) -> None:
        self._folder = descriptor
        self.name = name

    def read(self) -> bytes | None:
        """The file's bytes; None when there is none.

        Raises:
            UsageError: it is a symlink, or no regular file.
        """
        try:
            opened = os.open(
                self.name,
                os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
                dir_fd=self._folder,
            )
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise UsageError(
                    f"{self.name!r} is a symlink; it is not written through."
                ) from None
            raise
        with os.fdopen(opened, "rb") as stream:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise UsageError(f"{self.name!r} is no regular file.")
            return stream.read()

    def create(self, data: bytes) -> None:
        """Make the file.

        Raises:
            FileExistsError: something of this name is there.
        """
        with self._written(data) as temporary:
            os.link(
                temporary,
                self.name,
                src_dir_fd=self._folder,
                dst_dir_fd=self._folder,
                follow_symlinks=False,
            )

    def replace(self, data: bytes) -> None:
        """Put other bytes in place of the file's; its permissions are kept."""
        mode = stat.S_IMODE(os.stat(self.name, dir_fd=self._folder, follow_symlinks=False).st_mode)
        with self._written(data, mode) as temporary:
            os.replace(temporary, self.name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def remove(self) -> None:
        """Remove the file."""
        os.unlink(self.name, dir_fd=self._folder)

    @contextmanager
    def _written(self, data: bytes, mode: int | None = None) -> Iterator[str]:
        # A leading dot and this ending: no look takes it for a note.
        temporary = f".{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(temporary, flags, 0o666, dir_fd=self._folder)
        try:
            with os.fdopen(opened, "wb") as stream:
                stream.write(data)
                stream.flush()
                if mode is not None:
                    os.fchmod(opened, mode)
                os.fsync(opened)
            yield temporary
        finally:
            with suppress(FileNotFoundError):  # it has the file's name now
                os.unlink(temporary, dir_fd=self._folder)


@contextmanager
def folder_of(root: Path, file: Path, *, make: bool = False) -> Iterator[FolderOf]:
    """Hold the folder of a file below a root.

    Args:
        root: may itself be reached through a symlink, as it was configured.
        file: below it, with plain names all the way.
        make: missing folders on the way.

    Raises:
        UsageError: a folder on the way is missing, or is a symlink or no folder.
        StoreError: the disk refused, for want of permission or room.
    """
    if os.open not in os.supports_dir_fd:
        raise UsageError("Notes cannot be written on this system.", hint="Edit the file itself.")
    *on_the_way, name = PurePath(file).relative_to(root).parts
    try:
        here = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            for part in on_the_way:
                here = _step(here, part, make=make)
            yield FolderOf(here, name)
        finally:
            os.close(here)
    except FileExistsError:
        raise
    except OSError as error:
        raise StoreError(
            f"{file} cannot be written: {error.strerror or error}.",
            hint="Check the permissions and the room on the disk.",
        ) from error


def _step(here: int, part: str, *, make: bool) -> int:
    """Open a folder in one that is open, which is closed."""
    try:
        if make:
            with suppress(FileExistsError):  # what it is, opening tells
                os.mkdir(part, dir_fd=here)
        following = os.open(part, os.O_RDONLY | _FOLDER, dir_fd=here)
    except FileNotFoundError:
        raise UsageError(f"There is no folder {part!r} there.") from None
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise UsageError(
                f"{part!r} on the way there is a symlink or no folder; it is not followed.",
                hint="Choose a path inside the source.",
            ) from None
        raise
    os.close(here)
    return following
