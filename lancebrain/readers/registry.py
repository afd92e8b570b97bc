"""Which reader takes a file; a new kind is one module and one line here.

A reader module has ``read(path, kind, data) -> Document | Problem`` and is imported when the
first file of its kind comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol, cast

from lancebrain.errors import UsageError

if TYPE_CHECKING:
    from lancebrain.types import Document, Problem


@dataclass(frozen=True, slots=True)
class _Entry:
    module: str
    extensions: tuple[str, ...]


_READERS = {
    "md": _Entry("markdown", (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")),
    "text": _Entry("text", (".txt", ".text", ".log", ".rst", ".org", ".adoc", ".tex")),
    "claude": _Entry("session", (".jsonl",)),
    "codex": _Entry("session", (".jsonl", ".zst")),
    "gemini": _Entry("session", (".json", ".jsonl")),
    "jsonl": _Entry("session", (".jsonl", ".ndjson")),
}


class _Reader(Protocol):
    def read(self, path: str, kind: str, data: bytes) -> Document | Problem: ...


def extensions(kind: str) -> tuple[str, ...]:
    """The file name endings of a kind, lower case, with the dot.

    Raises:
        UsageError: there is no such kind.
    """
    return _entry(kind).extensions


def kind_of(name: str, head: bytes, wanted: str | None) -> str | None:
    """The kind of reader for a file, or None when it is to be left alone.

    Args:
        name: the file's name; case does not matter.
        head: its first bytes.
        wanted: the kind that its source names. A source of kind ``text`` takes files of any
            name; one of another kind takes those that are named like it.
    """
    ending = PurePosixPath(name.lower()).suffix
    if wanted == "text":
        return "text"
    for kind, entry in _READERS.items():
        if ending in entry.extensions and wanted in (None, kind):
            return kind if wanted or entry.module != "session" else _log_kind(head)
    return None


def _log_kind(head: bytes) -> str | None:
    """Logs of several programs share their endings: their content tells."""
    from lancebrain.readers.session import detect

    return detect(head)


def read(path: str, kind: str, data: bytes) -> Document | Problem:
    """Read a file's bytes. Whatever they are, the answer is a value.

    Args:
        path: document path, for the problems.
        kind: from :func:`kind_of`.
        data: all of the file.

    Returns:
        The document, or the problem for which the file is refused, such as ``not-text``.

    Raises:
        UsageError: there is no such kind.
    """
    module = cast(_Reader, import_module(f"{__package__}.{_entry(kind).module}"))
    return module.read(path, kind, data)


def _entry(kind: str) -> _Entry:
    if kind not in _READERS:
        raise UsageError(
            f"There is no reader of kind {kind!r}.", hint=f"Known kinds: {', '.join(_READERS)}."
        )
    return _READERS[kind]
