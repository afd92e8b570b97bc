"""What is in a source: the first step of every look."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lancebrain import osnames
from lancebrain.kinds import LOGS
from lancebrain.sources.defaults import EMPTY_ROOT
from lancebrain.sources.paths import file_of
from lancebrain.sources.rules import IgnoreRules
from lancebrain.sources.scoped import Scoped
from lancebrain.sources.walk import GONE, Walk
from lancebrain.types import Problem, Source, SourceFile

State = Literal["ok", "missing", "unreadable", "empty"]

MAX_FILE_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Discovery:
    """What one look at a source found.

    A document that is not among ``files`` is surely gone only if ``state`` is ``ok`` and
    :meth:`unseen` is False for it.

    Attributes:
        files: in the order of the folders; each document path once.
        problems: what was left out for a reason, and what could not be looked at.
        state: of the root. ``empty``: nothing is in it, which is also how a mount point looks
            whose drive is away.
        unreadable_folders: what document paths begin with that this look could not see.
        folders: absolute names of the folders that were looked into, for a watcher.
        rules: what was left out, and by which files.
    """

    files: list[SourceFile]
    problems: list[Problem]
    state: State
    unreadable_folders: tuple[str, ...]
    folders: list[str]
    rules: IgnoreRules

    def unseen(self, path: str) -> bool:
        """Whether a document is where this look could not see."""
        return path.startswith(self.unreadable_folders)


def discover(
    source: Source,
    *,
    only: Sequence[str] | None = None,
    max_file_bytes: int = MAX_FILE_BYTES,
    gitignore: bool = True,
    follow_symlinks: bool = True,
    index_folder: Path | None = None,
    other_roots: Iterable[Path] = (),
    left_out: Callable[[str], bool] | None = None,
) -> Discovery:
    """Look at a source: every file that is to be a document, not read yet.

    Args:
        only: document paths of files and folders to look at, by the same rules as when all is
            looked at; one that is not there finds nothing. None looks at everything.
        max_file_bytes: larger files are left out and reported; session logs may be of any size.
        gitignore: leave out what git does.
        follow_symlinks: within the root; see :mod:`lancebrain.sources.walk`.
        index_folder: is left out when it lies in the source.
        other_roots: roots of other sources: what lies in one of them is left to it.
        left_out: tells of document paths that are left out without a word.

    Raises:
        UsageError: a path of ``only`` is none of this source.
        ConfigError: ``include`` or ``exclude`` holds a line that is no pattern.
    """
    rules = IgnoreRules(
        source, gitignore=gitignore, index_folder=index_folder, other_roots=other_roots
    )
    limit = sys.maxsize if source.kind in LOGS else max_file_bytes
    walk = Walk(rules, max_file_bytes=limit, follow_symlinks=follow_symlinks)
    state, reason = _look_at_root(source)
    if state in ("missing", "unreadable"):
        sentence = f"{osnames.to_text(str(source.root))} cannot be read: {reason}."
        sentence += " What is known of it is kept."
        walk.problems.append(Problem(source.name, f"source-{state}", sentence))
    elif only is None:
        for root in walk.root():
            walk.everything(root)
    else:
        places = [file_of(source, path).relative_to(source.root).parts for path in only]
        Scoped(walk).look_at(places)
    problems = [*walk.problems, *rules.problems()]
    files = walk.files
    if left_out is not None:
        files = [file for file in files if not left_out(file.path)]
        problems = [problem for problem in problems if not left_out(problem.path)]
    return Discovery(files, problems, state, tuple(walk.unreadable), walk.folders, walk.rules)


def root_state(source: Source) -> State:
    """Whether the root of a source can be read now, and holds anything."""
    return _look_at_root(source)[0]


def _look_at_root(source: Source) -> tuple[State, str]:
    """The root's state, and the reason where it cannot be read."""
    try:
        with os.scandir(source.root) as listing:
            return ("ok" if any(e.name not in EMPTY_ROOT for e in listing) else "empty"), ""
    except OSError as error:
        state: State = "missing" if error.errno in GONE else "unreadable"
        return state, error.strerror or str(error)
