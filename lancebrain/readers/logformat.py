"""What a format of session logs has to tell; the rest is common to all of them.

A format is a module with one :class:`LogFormat`, listed in :mod:`lancebrain.readers.session`.
Records come from other people's programs, so any value may be of any type: the functions here
take what fits and see nothing in what does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, BinaryIO

from .conversation import Conversation
from .loglines import Record, Verdict


@dataclass(frozen=True, slots=True)
class LogFormat:
    """How one program writes its sessions.

    Attributes:
        kind: of the documents.
        spoken: paths of the strings that can be speech, or decide whether something is, as
            :class:`~lancebrain.readers.sieve.Sieve` takes them; only they are kept of a very
            long line.
        looks_like: whether the first bytes of a file are of this format. They may end within
            the first line.
        classify: a line's first bytes → whether it surely says nothing; in doubt, PARSE.
        take: tells the conversation what a record holds.
        is_subagent: (path, first bytes) → whether this is a sub-agent's log.
        is_one_value: whether the file is one JSON value over many lines; such a file is always
            read from its start.
        take_value: takes a file that is one value; sets ``talk.line`` and returns its lines.
    """

    kind: str
    spoken: frozenset[str]
    looks_like: Callable[[bytes], bool]
    classify: Callable[[bytes], Verdict]
    take: Callable[[Record, Conversation], None]
    is_subagent: Callable[[str, bytes], bool] = lambda path, head: False
    is_one_value: Callable[[bytes], bool] = lambda head: False
    take_value: Callable[[BinaryIO, Conversation], int] | None = None


def as_dict(value: Any) -> dict[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """``value`` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """``value`` if it is a string, else ``""``."""
    return value if isinstance(value, str) else ""


def texts_of(content: Any, kinds: Collection[str | None]) -> list[str]:
    """The texts of a message's content: a string, or blocks with a ``type`` of ``kinds``.

    A block may be a plain string; None among ``kinds`` takes blocks without a type.
    """
    if isinstance(content, str):
        return [content]
    texts: list[str] = []
    for block in as_list(content):
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict) and block.get("type") in kinds:
            texts.append(as_text(block.get("text")))
    return texts
