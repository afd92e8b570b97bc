"""What has to be looked at: document paths, newest first, or everything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_MOST = 1_000
"""From here on a walk is quicker than looking at paths one by one."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A handful of paths to look at; ``gone`` are those that were seen to go."""

    paths: tuple[str, ...]
    gone: frozenset[str]


class Dirty:
    """Bounded: too many paths become one look at everything.

    Attributes:
        everything: a full look is wanted.
        marked: counts the marks, so that one can wait for those made so far.
    """

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}
        self._gone: set[str] = set()
        self.everything = False
        self.marked = 0

    def __bool__(self) -> bool:
        return bool(self._paths)

    def mark(self, paths: Iterable[str], gone: Iterable[str] = ()) -> None:
        """Document paths and folders that may have changed."""
        self.marked += 1
        for path in paths:
            # One that changes again becomes the newest.
            self._paths.pop(path, None)
            self._paths[path] = None
        self._gone.update(gone)
        if len(self._paths) > _MOST:
            self.everything = True

    def mark_everything(self) -> None:
        """All of the sources may have changed."""
        self.marked += 1
        self.everything = True

    def take(self, most: int) -> Taken:
        """The newest paths, ``most`` at most; they are not dirty any more."""
        newest = list(reversed(self._paths))[:most]
        for path in newest:
            del self._paths[path]
        taken = Taken(tuple(newest), frozenset(self._gone))
        if not self._paths and not self.everything:
            self._gone.clear()
        return taken

    def take_everything(self) -> frozenset[str]:
        """Nothing is dirty any more; what was seen to go."""
        gone = frozenset(self._gone)
        self._paths.clear()
        self._gone.clear()
        self.everything = False
        return gone
