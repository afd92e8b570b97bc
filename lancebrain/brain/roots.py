"""Paths that a person names → sources and document paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lancebrain.errors import UsageError
from lancebrain.types import Source


@dataclass(frozen=True, slots=True)
class Named:
    """What the paths given to ``sync`` mean.

    Attributes:
        new_folders: absolute folders that are in no source yet, and become sources.
        document_paths: documents or folders of sources to look at.
    """

    new_folders: tuple[Path, ...]
    document_paths: tuple[str, ...]


def absolute(path: Path | str) -> Path:
    """``~`` expanded, relative to the working folder, symlinks left as they are.

    Raises:
        UsageError: the path cannot be one.
    """
    try:
        return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100
    except (RuntimeError, ValueError) as error:
        raise UsageError(f"{str(path)!r} is not a path: {error}.") from None


def document_path_of(sources: Sequence[Source], path: Path | str) -> str | None:
    """The document path of a file or folder on disk; None outside all sources."""
    from lancebrain.sources import document_path, source_of

    whole = absolute(path)
    source = source_of(sources, whole)
    return None if source is None else document_path(source, whole)


def resolve_named(sources: Sequence[Source], paths: Iterable[Path | str]) -> Named:
    """Tell new folders from paths inside sources.

    A path that is not on the disk but inside a source's root is one too: it may have been
    deleted. ``source/relative/path``, as hits name documents, is understood where there is no
    such file below the working folder.

    Raises:
        UsageError: a path that does not exist, or a file in no source.
    """
    folders: list[Path] = []
    inside: list[str] = []
    names = {source.name for source in sources}
    for path in paths:
        whole = absolute(path)
        known = document_path_of(sources, whole)
        is_document_path = str(path).partition("/")[0] in names and not whole.exists()
        if known is not None and not is_document_path:
            inside.append(known)
        elif is_document_path:
            inside.append(str(path).rstrip("/"))
        elif whole.is_dir():
            folders.append(whole)
        elif whole.exists():
            hint = f"Index its folder: lancebrain sync {whole.parent}"
            raise UsageError(f"{whole} is in no source.", hint=hint)
        else:
            raise UsageError(f"There is no {whole}.", hint="Name a folder to index.")
    return Named(tuple(dict.fromkeys(folders)), tuple(dict.fromkeys(inside)))
