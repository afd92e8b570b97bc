"""A look at single files and folders, by the same steps as the walk on its way to them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from lancebrain.sources.rule_files import UnreadableRulesError
from lancebrain.sources.rules import RULE_NAMES
from lancebrain.sources.scopes import FolderRules
from lancebrain.sources.walk import GONE, Folder, Walk

Place = tuple[str, ...]
"""Names of entries from the root down, as the OS has them; ``()`` is the root."""


class Scoped:
    """Leads a walk to places; folders on the way are stepped through, not listed."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._entered: dict[Place, tuple[Folder, FolderRules] | None] = {}

    def look_at(self, places: Iterable[Place]) -> None:
        """Look at files, and at folders with all that is in them; each file once."""
        done: set[Place] = set()
        # Sorted, a folder comes before what is in it.
        for place in sorted(places):
            if any(place[:depth] in done for depth in range(len(place) + 1)):
                continue
            done.add(place)
            for folder in self._step(place):
                self._walk.everything(folder)

    def _step(self, place: Place, *, on_the_way: bool = False) -> list[Folder]:
        """Look at one entry; the folder to look into, if it is one that is not left out.

        Args:
            on_the_way: only a folder is of use.
        """
        if not place:
            return self._walk.root()
        around = self._enter(place[:-1])
        if around is None:
            return []
        folder, rules = around
        try:
            entry = _NamedEntry(folder.absolute, place[-1])
        except OSError as error:
            if error.errno not in GONE:
                self._walk.cannot_read(folder.document, error)
            return []
        if on_the_way and not _may_be_folder(entry):
            return []
        told = len(self._walk.problems)
        folders = self._walk.entries(folder, rules, [entry])
        if on_the_way:
            # What is wrong with a folder above is told by a look at that folder.
            del self._walk.problems[told:]
        return folders

    def _enter(self, place: Place) -> tuple[Folder, FolderRules] | None:
        """A folder and the rules for its entries; None when it is gone or left out."""
        if place not in self._entered:
            self._entered[place] = None
            for folder in self._step(place, on_the_way=True):
                here = Path(folder.absolute)
                present = {name for name in RULE_NAMES if os.path.lexists(here / name)}
                try:
                    rules = self._walk.rules.inside(folder.rules, folder.relative, present)
                except UnreadableRulesError as error:
                    self._walk.cannot_read(folder.document, error)
                else:
                    self._entered[place] = folder, rules
        return self._entered[place]


class _NamedEntry:
    """One entry of a folder, asked for by name instead of listed.

    Raises:
        OSError: there is none, or it cannot be told.
    """

    def __init__(self, folder: str, name: str) -> None:
        self.name = name
        self.path = os.path.join(folder, name)  # noqa: PTH118 (as os.scandir joins them)
        self._file = Path(self.path)
        self._status = self._file.lstat()
        if not _is_spelled_so(Path(folder), name):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self.stat(follow_symlinks=follow_symlinks).st_mode)

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self._status.st_mode)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._file.stat() if follow_symlinks else self._status


def _may_be_folder(entry: _NamedEntry) -> bool:
    """Whether an entry is a folder, or a symlink of which that cannot be told."""
    try:
        return entry.is_dir()
    except OSError as error:
        return error.errno not in (*GONE, errno.ELOOP)


def _is_spelled_so(folder: Path, name: str) -> bool:
    """Whether an entry that answers to a name has it, where the file system may ignore case."""
    swapped = name.swapcase()
    if swapped != name and not os.path.lexists(folder / swapped):
        return True
    with os.scandir(folder) as listing:
        return any(entry.name == name for entry in listing)
