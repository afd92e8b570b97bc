"""Which reader takes a file; a new kind is one module, a line here and one in ``kinds``.

A reader module has ``read(path, kind, data) -> Document | Problem`` and is imported when the
first file of its kind comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

from lancebrain.errors import UsageError
from lancebrain.kinds import EXTENSIONS, LOGS, MARKDOWN, TEXT, extension_of

if TYPE_CHECKING:
    from lancebrain.types import Document, Problem

_MODULES: Mapping[str, str] = MappingProxyType(
    {MARKDOWN: "markdown", TEXT: "text", **dict.fromkeys(LOGS, "session")}
)
"""Kind → the module that reads it."""


class _Reader(Protocol):
    def read(self, path: str, kind: str, data: bytes) -> Document | Problem: ...


def kind_of(name: str, head: bytes, wanted: str | None) -> str | None:
    """The kind of reader for a file, or None when no reader takes it.

    Args:
        name: the file's name; case does not matter.
        head: its first bytes.
        wanted: the kind that its source names. A source of kind ``text`` takes files of any
            name; one of another kind takes those that are named like it. None: the name tells,
            and a name that tells nothing, which a source's ``include`` asked for, is a text's.
    """
    ending = extension_of(name)
    if wanted is not None:
        return wanted if wanted == TEXT or ending in EXTENSIONS[wanted] else None
    for kind in (MARKDOWN, TEXT):
        if ending in EXTENSIONS[kind]:
            return kind
    return _log_kind(head) if any(ending in EXTENSIONS[kind] for kind in LOGS) else TEXT


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
    if kind not in _MODULES:
        raise UsageError(
            f"There is no reader of kind {kind!r}.", hint=f"Known kinds: {', '.join(EXTENSIONS)}."
        )
    module = cast(_Reader, import_module(f"{__package__}.{_MODULES[kind]}"))
    return module.read(path, kind, data)
