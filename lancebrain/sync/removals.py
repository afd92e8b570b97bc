"""What may be removed: only what is surely gone, and never most of a source unasked.

Pure; the look calls it with the documents that have no file any more. It has none to ask about
where a root or a folder cannot be read, where a person confirmed the removals, and where the
watcher saw the files go or git took them away.

1. Of a root that is suddenly empty (a mount point without its disk), nothing is removed.
2. More than half of a source, and more than 50 documents, wait to be confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lancebrain.types import Problem

MAX_UNASKED = 50
"""So many documents may go at once, however small the source is."""
_MASS_SHARE = 0.2
_MASS_LEAST = 5
"""From this share on, and so many documents, what was before is worth keeping."""

_HOW = "If they are to go: lancebrain sync --confirm-removals"


def is_mass(count: int, *, known: int) -> bool:
    """Whether so many documents go that the version before is to be kept.

    Args:
        known: how many documents the table has.
    """
    return count >= _MASS_LEAST and count > _MASS_SHARE * known


@dataclass(frozen=True, slots=True)
class Gone:
    """Documents of one source without a file.

    Attributes:
        source: its name.
        state: of its root: ``ok``, ``missing``, ``unreadable``, ``empty``.
        paths: the documents.
    """

    source: str
    state: str
    paths: Sequence[str]


def problem_with(gone: Gone, *, known: int) -> Problem | None:
    """Why the documents stay; None when they may go.

    Args:
        known: how many documents of the source the table has.
    """
    count = len(gone.paths)
    if not count:
        return None
    if gone.state == "empty":
        return Problem(
            gone.source,
            "source-empty",
            f"The folder of {gone.source} is suddenly empty; its {count} documents are kept. "
            f"{_HOW}",
        )
    if count > MAX_UNASKED and 2 * count > known:
        return Problem(
            gone.source,
            "removals-waiting",
            f"{count} of the {known} documents of {gone.source} have no file any more; "
            f"they are kept. {_HOW}",
        )
    return None
