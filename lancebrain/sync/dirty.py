"""What has to be looked at: document paths, or everything.

What is a document already goes first, and of two the one that changed last: so an edit does not
wait for the thousands of files that are being copied in beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, islice

_MOST = 1_000
"""From here on a walk is quicker than looking at paths one by one."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A handful of paths to look at; ``gone`` are those that were seen to go."""

    paths: tuple[str, ...]
    gone: frozenset[str]


class Dirty:
    """Bounded: too many paths become one look at everything.

    Args:
        is_document: tells of a path whether the index has a document of it.

    Attributes:
        everything: a full look is wanted.
        marked: counts the marks, so that one can wait for those made so far.
    """

    def __init__(self, is_document: Callable[[str], bool]) -> None:
        self._is_document = is_document
        self._documents: dict[str, None] = {}
        self._others: dict[str, None] = {}
        self._gone: set[str] = set()
        self.everything = False
        self.marked = 0

    def __bool__(self) -> bool:
        return bool(self._documents or self._others)

    def mark(self, paths: Iterable[str], gone: Iterable[str] = ()) -> None:
        """Document paths and folders that may have changed."""
        self.marked += 1
        for path in paths:
            # One that changes again becomes the newest.
            self._documents.pop(path, None)
            self._others.pop(path, None)
            kind = self._documents if self._is_document(path) else self._others
            kind[path] = None
        self._gone.update(gone)
        if len(self._documents) + len(self._others) > _MOST:
            self.everything = True

    def mark_everything(self, gone: Iterable[str] = ()) -> None:
        """All of the sources may have changed."""
        self.marked += 1
        self.everything = True
        self._gone.update(gone)

    def take(self, most: int) -> Taken:
        """The first paths, ``most`` at most; they are not dirty any more."""
        first = list(islice(chain(reversed(self._documents), reversed(self._others)), most))
        for path in first:
            self._documents.pop(path, None)
            self._others.pop(path, None)
        taken = Taken(tuple(first), frozenset(self._gone))
        if not self and not self.everything:
            self._gone.clear()
        return taken

    def take_everything(self) -> frozenset[str]:
        """Nothing is dirty any more; what was seen to go."""
        gone = frozenset(self._gone)
        self._documents.clear()
        self._others.clear()
        self._gone.clear()
        self.everything = False
        return gone
