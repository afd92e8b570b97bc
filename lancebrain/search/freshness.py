"""Is a hit's file still what the index has? Asked of the disk, for the few hits of an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from lancebrain.sources import file_of
from lancebrain.store import ShownDocument
from lancebrain.types import DocumentState, Freshness, Source

_HASHED_BYTES = 4 * 1024 * 1024  # a larger file is taken for changed when its times are


def freshness(
    document: ShownDocument | DocumentState, sources: Mapping[str, Source]
) -> Freshness | Literal["gone"]:
    """Compare a document row with its file.

    Args:
        document: as the index has it.
        sources: by name, those that are configured now.

    Returns:
        ``fresh``, also when the file was only touched; ``changed``; ``gone`` when its folder is
        there and the file is not; ``unknown`` when that cannot be told now.
    """
    source = sources.get(document.source)
    if source is None:
        return "unknown"
    file = Path(file_of(source, document.path))
    try:
        stat = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return "gone" if _is_there(source.root) else "unknown"
    except (OSError, ValueError):
        return "unknown"
    if stat.st_size != document.size:
        return "changed"
    times = (stat.st_mtime_ns, stat.st_ctime_ns if document.ctime_ns else 0)
    if times == (document.mtime_ns, document.ctime_ns):
        return "fresh"
    if stat.st_size > _HASHED_BYTES:
        return "changed"
    try:
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return "unknown"
    return "fresh" if sha256 == document.sha256 else "changed"


def _is_there(root: Path) -> bool:
    """Whether the folder exists and holds something: an empty one may be an unmounted disk."""
    try:
        return next(root.iterdir(), None) is not None
    except OSError:
        return False
