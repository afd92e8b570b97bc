"""Writing a small file so that a reader, or a crash, finds the old text or the new, never half."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path


def write_atomically(file: Path, text: str) -> None:
    """Replace ``file``, following it if it is a symlink; permissions are kept.

    Args:
        text: written as UTF-8, with its own line ends.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full; ``file`` is as before.
    """
    target = Path(os.path.realpath(file))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
