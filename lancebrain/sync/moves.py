"""New files that are documents from elsewhere: matched by their bytes with those that lost theirs.

A step of the look, and the only one that reads files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping

from lancebrain.store import DocumentStat
from lancebrain.types import SourceFile

from .reading import Reading, Vanished, read_file


def moves(
    new: Iterable[SourceFile], leaving: Mapping[str, DocumentStat], now_ns: Callable[[], int]
) -> dict[str, str]:
    """New path → the document's path before, of equal bytes.

    Args:
        new: files that are no documents yet; only those of a size that is leaving are read.
        leaving: documents without a file.
    """
    sizes = {stat.size for stat in leaving.values()}
    hashes = {file.path: _sha256(file, now_ns) for file in new if file.size in sizes}
    return matched(hashes, {path: stat.sha256 for path, stat in leaving.items()})


def matched(new: Mapping[str, str], leaving: Mapping[str, str]) -> dict[str, str]:
    """New path → old path of the same hash, one to one.

    A file that kept its name comes first, so that of equal files each finds its own.

    Args:
        new, leaving: hashes by path.
    """
    pairs: dict[str, str] = {}
    for key in (_name_and_hash, _hash):
        taken = set(pairs.values())
        places: defaultdict[Hashable, list[str]] = defaultdict(list)
        for path in reversed([path for path in leaving if path not in taken]):
            places[key(path, leaving[path])].append(path)
        for path, sha256 in new.items():
            if path not in pairs and (there := places.get(key(path, sha256))):
                pairs[path] = there.pop()
    return pairs


def _name_and_hash(path: str, sha256: str) -> Hashable:
    return path.rpartition("/")[2], sha256


def _hash(_: str, sha256: str) -> Hashable:
    return sha256


def _sha256(file: SourceFile, now_ns: Callable[[], int]) -> str:
    """The hash of a file's bytes, or ``""`` when it cannot be read now."""
    try:
        reading = read_file(file, now_ns())
    except Vanished:
        return ""
    return reading.sha256 if isinstance(reading, Reading) else ""
