"""File events → document paths to look at. Events are hints: nothing is decided here but where.

The same ignore rules as in the walk tell which events matter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import watchfiles

from lancebrain.sources import IgnoreRules, document_path
from lancebrain.types import Source

from .watcher import Events


@dataclass(slots=True)
class Hints:
    """What a handful of events says.

    Attributes:
        paths: document paths and folders to look at, in order.
        gone: those of them that were deleted or moved away.
        lost: absolute names of folders that are watched no more, or not yet: deleted, or new.
        everything: a root itself changed, so that only a full look helps.
    """

    paths: dict[str, None] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    everything: bool = False


def hints_of(events: Events, sources: Sequence[Source], rules: Mapping[str, IgnoreRules]) -> Hints:
    """Translate events.

    Args:
        rules: of each source that was looked at, by name.
    """
    hints = Hints()
    innermost = sorted(sources, key=lambda source: len(str(source.root)), reverse=True)
    for change, name in events:
        path = Path(name)
        source = next((s for s in innermost if _is_in(name, s)), None)
        if source is None or source.name not in rules:
            hints.everything |= any(source.root.is_relative_to(path) for source in sources)
        elif path == source.root:
            hints.lost.add(name)
            hints.everything = True
        else:
            _add(hints, change, path, source, rules[source.name])
    return hints


def _add(
    hints: Hints, change: watchfiles.Change, path: Path, source: Source, rules: IgnoreRules
) -> None:
    if rules.is_rule_file(path):
        folder = path.parent if path.parent.is_relative_to(source.root) else source.root
        hints.paths[document_path(source, folder)] = None
        return
    is_gone = change is watchfiles.Change.deleted
    is_folder = not is_gone and path.is_dir()
    if is_gone:
        # What went cannot be asked whether it was a file or a folder.
        ignored = rules.is_ignored(path, is_dir=False) and rules.is_ignored(path, is_dir=True)
    else:
        ignored = rules.is_ignored(path, is_dir=is_folder)
    if ignored:
        return
    document = document_path(source, path)
    hints.paths[document] = None
    if is_gone:
        hints.gone.add(document)
    if is_gone or (is_folder and change is watchfiles.Change.added):
        hints.lost.add(str(path))


def without_lost(watched: Iterable[str], lost: Iterable[str]) -> set[str]:
    """The folders that are still watched: none of the lost ones, and nothing below them."""
    gone = set(lost)
    below = tuple(f"{folder}{os.sep}" for folder in gone)
    return {f for f in watched if f not in gone and not (below and f.startswith(below))}


def _is_in(name: str, source: Source) -> bool:
    root = str(source.root)
    return name == root or name.startswith(f"{root.rstrip(os.sep)}{os.sep}")
