"""Which names of files may be documents of a source; what is in them, a reader decides."""

from __future__ import annotations

import re

from lancebrain.kinds import extension_of, extensions
from lancebrain.sources.defaults import TEMPORARY_PREFIXES
from lancebrain.types import Source


class WantedNames:
    """The names of a source's kind, and those that its ``include`` spells out.

    ``include = ["*.py", "Makefile"]`` adds an extension and a name to those of the kind; without
    a kind, those of notes and texts.

    Attributes:
        extensions: lower-case, with the dot.
        names: whole names.
    """

    __slots__ = ("extensions", "names")

    def __init__(self, source: Source) -> None:
        wanted, names = set(extensions(source.kind)), set()
        for pattern in source.include:
            last = pattern.rstrip().rpartition("/")[2]
            if pattern.startswith("!") or not last:
                continue
            if re.search(r"[*?\[\\]", last) is None:
                names.add(last)
            extension = extension_of(last)
            if len(extension) > 1 and re.search(r"[*?\[\]\\]", extension) is None:
                wanted.add(extension)
        self.extensions = frozenset(wanted)
        self.names = frozenset(names)

    def has(self, name: str) -> bool:
        """Whether a file of this name may be a document; case counts in whole names only."""
        wanted = extension_of(name) in self.extensions or name in self.names
        return wanted and not name.startswith(TEMPORARY_PREFIXES)
