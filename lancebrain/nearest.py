"""Which path was meant by one that does not exist: for the next step that an error names."""

from __future__ import annotations

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable


def nearest(path: str, known: Iterable[str]) -> str:
    """Up to two known paths, joined by "or"; ``""`` when none is like it.

    Those of the same name come first, in whatever folder; capitals and the way in which accents
    are composed do not count.
    """
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for other in sorted(known):
        paths[_folded(other)].append(other)
    wanted = _folded(path)
    name = wanted.rsplit("/", 1)[-1]
    near = [wanted] if wanted in paths else [p for p in paths if p.rsplit("/", 1)[-1] == name]
    near = near or difflib.get_close_matches(wanted, paths, n=2, cutoff=0.6)
    return " or ".join([other for folded in near for other in paths[folded]][:2])


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
