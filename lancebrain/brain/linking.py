"""Links between documents: what a link as it is written leads to. Pure."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Links:
    """Who links to whom in one version of the index.

    Args:
        known: all document paths.
        written: targets as written, by document path.
    """

    def __init__(self, known: Collection[str], written: Mapping[str, Iterable[str]]) -> None:
        self._known = frozenset(known)
        self._named: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(known):
            name = path.rpartition("/")[2]
            for key in {name.casefold(), name.rpartition(".")[0].casefold()} - {""}:
                self._named[key].append(path)
        self._written = written

    def from_document(self, path: str) -> list[tuple[str, str | None]]:
        """Each link of a document as written, and the document that it leads to, if one."""
        return [(target, self.target(path, target)) for target in self._written.get(path, ())]

    def to_document(self, path: str) -> tuple[str, ...]:
        """The documents that link to one, sorted."""
        name = path.rpartition("/")[2].casefold()
        stem = name.rpartition(".")[0] or name
        origins = {
            origin
            for origin, targets in self._written.items()
            for written in targets
            if origin != path and _may_name(stem, written) and self.target(origin, written) == path
        }
        return tuple(sorted(origins))

    def target(self, origin: str, written: str) -> str | None:
        """The document that a link leads to; None outside the index.

        A path relative to the note, then one relative to its source, then a bare name: of several
        notes with it, the one nearest in the tree of folders.
        """
        if _SCHEME.match(written) or written.startswith(("#", "//")):
            return None
        for spelled in dict.fromkeys((written, unquote(written))):
            plain = re.split(r"[#|^]", spelled, maxsplit=1)[0].strip()
            for path in self._places(origin, plain) if plain else ():
                if path in self._known:
                    return path
            if plain and (near := self._named.get(plain.rpartition("/")[2].casefold())):
                return max(near, key=lambda path: (len(_shared(path, origin)), -len(path)))
        return None

    def _places(self, origin: str, plain: str) -> Iterator[str]:
        source = origin.partition("/")[0]
        folder = source if plain.startswith("/") else posixpath.dirname(origin)
        for base in dict.fromkeys((folder, source)):
            path = posixpath.normpath(posixpath.join(base, plain.lstrip("/")))
            yield path
            yield path + ".md"


def _may_name(stem: str, written: str) -> bool:
    """Whether a link could lead to a document of this name; takes a hundredth of finding out."""
    spelled = (unquote(written) if "%" in written else written).casefold()
    return stem in spelled or spelled.endswith((".", "./"))


def _shared(path: str, other: str) -> str:
    return posixpath.commonpath((posixpath.dirname(path), posixpath.dirname(other)))
