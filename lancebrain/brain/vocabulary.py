"""What there is to ask for: paths, domains, kinds and tags, for completions and introductions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lancebrain.brain.facade import Brain


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words by which one version of the index can be narrowed down.

    Attributes:
        version: of the index.
        paths: of documents, sorted.
        domains, kinds, sources, tags: with the number of documents (of passages, for tags).
    """

    version: int
    paths: tuple[str, ...]
    domains: Counter[str]
    kinds: Counter[str]
    sources: Counter[str]
    tags: Counter[str]


def vocabulary_of(brain: Brain) -> Vocabulary:
    """Read it from the newest version.

    Raises:
        IndexNotFoundError: nothing was indexed yet.
    """
    from lancebrain.sync.manner import REFUSED

    snapshot = brain._access.store().snapshot()
    rows = snapshot.to_arrow(
        ["path", "source", "domain", "kind", "tags"], where="chunk_index = -1"
    ).to_pylist()
    rows = [row for row in rows if row["kind"] != REFUSED]
    return Vocabulary(
        version=snapshot.version,
        paths=tuple(sorted(row["path"] for row in rows)),
        domains=Counter(row["domain"] for row in rows),
        kinds=Counter(row["kind"] for row in rows),
        sources=Counter(row["source"] for row in rows),
        tags=Counter(tag for row in rows for tag in row["tags"] or ()),
    )


def hash_of(brain: Brain, path: str) -> str:
    """SHA-256 of a document's file as the index has it; ``""`` when it has none."""
    stat = brain._access.store().snapshot().stats([path]).get(path)
    return "" if stat is None else stat.sha256


def version_of(brain: Brain) -> int:
    """The newest version of the index, whoever made it."""
    return brain._access.store().snapshot().version
