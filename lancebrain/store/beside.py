"""Small files beside the table, each replaced whole: a reader sees the old one or the new one."""

from __future__ import annotations

import os
from pathlib import Path

from .failures import translated

CHECKPOINTS_FILE = "checkpoints.json"
"""What was said of each checkpoint."""


def write_beside(folder: Path, name: str, text: str) -> None:
    """Write a file of the index folder; durable when this returns.

    The caller holds the index lock.

    Raises:
        StoreError: the folder cannot be written.
    """
    file = folder / name
    fresh = file.with_name(f"{name}.new")
    with translated(folder, f"writing {name}"):
        try:
            with fresh.open("w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            fresh.replace(file)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
