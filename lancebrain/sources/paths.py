"""Document paths: ``source-name/relative/posix/path`` for a file, and back.

A path is the file's name exactly, whatever characters it has; bytes that are no UTF-8 are escaped
(:mod:`lancebrain.osnames`). Upper and lower case, and composed and decomposed accents, are kept
apart: they are different files to the systems that allow both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lancebrain import osnames
from lancebrain.errors import UsageError
from lancebrain.types import Source


def document_path(source: Source, file: Path) -> str:
    """The document path of a file or folder in a source; the root's is the source's name.

    Args:
        file: absolute; may be spelled through a symlink above the root. It need not exist.

    Raises:
        UsageError: the file is not in the source.
    """
    below = _below(source.root, file)
    if below is None:
        raise UsageError(f"{osnames.to_text(str(file))} is not in the source {source.name!r}.")
    return "/".join([source.name, *map(osnames.to_text, below)])


def file_of(source: Source, path: str) -> Path:
    """The file that a document path names: the inverse of :func:`document_path`.

    It is always inside the source's root; it need not exist.

    Args:
        path: may end in a slash, for a folder.

    Raises:
        UsageError: the path is of another source, or no path: it has an empty part, ``.``, ``..``
            or a NUL.
    """
    name, *below = path.removesuffix("/").split("/")
    if name != source.name:
        raise UsageError(f"{path!r} is not a path in the source {source.name!r}.")
    parts = [osnames.from_text(part) for part in below]
    if any(part in ("", os.curdir, os.pardir) or _not_a_name(part) for part in parts):
        raise UsageError(f"{path!r} is not a document path.")
    return source.root.joinpath(*parts)


def source_of(sources: Iterable[Source], file: Path) -> Source | None:
    """The source that a file or folder belongs to: of those around it, the innermost."""
    around = [source for source in sources if _below(source.root, file) is not None]
    return max(around, key=_depth, default=None)


def _depth(source: Source) -> int:
    return len(Path(os.path.realpath(source.root)).parts)


def _below(root: Path, file: Path) -> tuple[str, ...] | None:
    """The parts of ``file`` below ``root``; None when it is elsewhere."""
    if file.is_relative_to(root):
        below = file.relative_to(root)
        return None if os.pardir in below.parts else below.parts
    real_root = Path(os.path.realpath(root))
    # At first the last part is not resolved: a symlink in a source belongs there.
    for real in (Path(os.path.realpath(file.parent)) / file.name, Path(os.path.realpath(file))):
        if real.is_relative_to(real_root):
            return real.relative_to(real_root).parts
    return None


def _not_a_name(part: str) -> bool:
    """Whether a part would reach elsewhere: it holds a NUL, a separator or a drive."""
    separators = {"\0", os.sep, os.altsep or os.sep}
    return any(separator in part for separator in separators) or bool(os.path.splitdrive(part)[0])
