"""The walk over a source's folders: files as ``stat`` sees them, and what is wrong on the way.

``os.scandir`` gives names and types with one system call a folder; then each wanted file costs
one ``stat``, and all else is kept cheap.

A symlink inside the root that leads to a place which is taken anyway adds nothing: the real place
wins, so every file is one document. A symlink to a place that is left out under its own name
(a content store such as git-annex, a build folder) is a document, or a folder of documents, under
the name of the link. Links to folders are not followed again below such a folder. So there are
no loops.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from lancebrain import osnames
from lancebrain.kinds import extension_of
from lancebrain.sources.rule_files import UnreadableRulesError
from lancebrain.sources.rules import RULE_NAMES, IgnoreRules
from lancebrain.sources.scopes import FolderRules
from lancebrain.sources.times import times_of
from lancebrain.types import Problem, SourceFile

GONE = frozenset({errno.ENOENT, errno.ENOTDIR})


class Entry(Protocol):
    """What a folder lists; ``os.DirEntry`` is one."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...
    def is_symlink(self) -> bool: ...
    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to look into.

    Attributes:
        absolute: as the OS names it, without a slash at the end.
        relative: below the root, with a slash at the end; ``""`` for the root.
        document: what the document paths in it begin with; it ends in a slash.
        rules: as they are outside of it; its own files of rules are not read yet.
        linked: it was reached through a symlink.
    """

    absolute: str
    relative: str
    document: str
    rules: FolderRules
    linked: bool = False


class Walk:
    """One look at a source, or at parts of it.

    Args:
        rules: what is left out.
        max_file_bytes: larger files are reported instead.
        follow_symlinks: within the root.

    Attributes:
        files, problems: what was found so far.
        folders: absolute names of the folders that were looked into.
        unreadable: what the document paths in folders begin with that could not be looked into.
    """

    def __init__(self, rules: IgnoreRules, *, max_file_bytes: int, follow_symlinks: bool) -> None:
        self.rules = rules
        self.files: list[SourceFile] = []
        self.problems: list[Problem] = []
        self.folders: list[str] = []
        self.unreadable: list[str] = []
        self._source = rules.source
        self._max_file_bytes = max_file_bytes
        self._follow_symlinks = follow_symlinks

    def root(self) -> list[Folder]:
        """The root, to begin with; none where nobody knows what to leave out of it."""
        document = f"{self._source.name}/"
        try:
            return [Folder(str(self._source.root), "", document, self.rules.around_root())]
        except UnreadableRulesError as error:
            self.cannot_read(document, error)
            return []

    def everything(self, folder: Folder) -> None:
        """Look into a folder and the folders below it."""
        pending = [folder]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder.absolute) as listing:
                    entries = sorted(listing, key=attrgetter("name"))
                self.folders.append(folder.absolute)
                present = RULE_NAMES.intersection([entry.name for entry in entries])
                rules = self.rules.inside(folder.rules, folder.relative, present)
            except OSError as error:
                self.cannot_read(folder.document, error)
                continue
            pending += reversed(self.entries(folder, rules, entries))

    def entries(self, folder: Folder, rules: FolderRules, entries: Iterable[Entry]) -> list[Folder]:
        """Look at entries of a folder.

        Args:
            rules: that hold for entries of this folder.

        Returns:
            the folders among them that are to be looked into.
        """
        wanted, screen = self.rules.wanted, self.rules.screen(rules)
        extensions, document = wanted.extensions, folder.document
        source, most, files = self._source, self._max_file_bytes, self.files
        folders: list[Folder] = []
        for entry in entries:
            name = entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders += self._subfolder(folder, rules, entry)
                    continue
                if entry.is_symlink():
                    folders += self._link(folder, rules, entry)
                    continue
                # What most names are is told here; ``has`` is the rule.
                plain = name[0] not in ".~" and name[name.rfind(".") :] in extensions
                if not plain and not wanted.has(name):
                    continue
                if (
                    screen is not None
                    and screen.passes(name)
                    and not self.rules.lets_through(rules, name, folder.relative + name)
                ):
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                # A file that went between the listing and this line is gone: nothing to tell.
                if error.errno not in GONE:
                    self.cannot_read(document, error)
                continue
            path = document + (name if name.isascii() else osnames.to_text(name))
            size = status.st_size
            if size > most or not stat.S_ISREG(status.st_mode):
                self._take_file(path, entry.path, status)
                continue
            # As ``_take_file`` does, without the call.
            mtime_ns, ctime_ns = times_of(status)
            files.append(SourceFile(source, path, entry.path, size, mtime_ns, ctime_ns))
        return folders

    def cannot_read(self, folder: str, error: OSError) -> None:
        """Note that what is in a folder is not known: its documents are not gone.

        A folder that went between its parent's listing and its own is not reported, but noted all
        the same: it may be on its way to another name, and the next look will know. A file of
        rules is reported by the rules.

        Args:
            folder: what the document paths in it begin with; it ends in a slash.
        """
        if folder in self.unreadable:
            return
        self.unreadable.append(folder)
        if error.errno not in GONE and not isinstance(error, UnreadableRulesError):
            self.problems.append(
                Problem(
                    folder[:-1],
                    "folder-unreadable",
                    f"The folder cannot be read: {error.strerror}. What is known of it is kept.",
                )
            )

    def _take_file(self, path: str, file: str, status: os.stat_result) -> None:
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            sentence = "It is not a file but a pipe, socket or device; it is not opened."
            self.problems.append(Problem(path, "not-a-file", sentence))
        elif size > self._max_file_bytes:
            sentence = (
                f"It has {size / 2**20:,.1f} MiB; "
                f"max_file_bytes allows {self._max_file_bytes / 2**20:,.1f} MiB."
            )
            self.problems.append(Problem(path, "too-large", sentence))
        else:
            mtime_ns, ctime_ns = times_of(status)
            self.files.append(SourceFile(self._source, path, file, size, mtime_ns, ctime_ns))

    def _subfolder(self, folder: Folder, rules: FolderRules, entry: Entry) -> list[Folder]:
        """The folder to look into; none when it is left out."""
        name = entry.name
        relative = folder.relative + name
        outside = self.rules.below(rules, name, relative)
        if outside is None:
            return []
        if folder.linked and self.rules.is_of_others(os.path.realpath(entry.path)):
            return []
        document = f"{folder.document}{osnames.to_text(name)}/"
        return [Folder(entry.path, relative + "/", document, outside, folder.linked)]

    def _link(self, folder: Folder, rules: FolderRules, entry: Entry) -> list[Folder]:
        """Take in what a symlink leads to, or tell why not; the folder to look into, if any."""
        name = entry.name
        path, relative = folder.document + osnames.to_text(name), folder.relative + name
        takes_file = self.rules.takes_file(rules, name, relative)
        if not self._follow_symlinks or not (takes_file or self.rules.below(rules, name, relative)):
            return []
        try:
            real = os.path.realpath(entry.path, strict=True)
            status = Path(real).stat()
        except OSError as error:
            if error.errno not in (*GONE, errno.ELOOP):
                self.unreadable.append(path)
            if takes_file or not extension_of(name):
                sentence = f"The symlink leads nowhere: {error.strerror}."
                self.problems.append(Problem(path, "symlink-broken", sentence))
            return []
        is_folder = stat.S_ISDIR(status.st_mode)
        subfolder = self._subfolder(folder, rules, entry) if is_folder else []
        if not (subfolder or (takes_file and not is_folder)):
            return []
        if not Path(real).is_relative_to(self.rules.real_root):
            sentence = (
                f"The symlink leads out of the source, to {osnames.to_text(real)}; "
                "make that a source of its own."
            )
            self.problems.append(Problem(path, "symlink-outside", sentence))
            return []
        place = self._source.root / Path(real).relative_to(self.rules.real_root)
        if self.rules.is_of_others(real) or not self.rules.is_ignored(place, is_folder):
            return []
        if not is_folder:
            self._take_file(path, entry.path, status)
            return []
        return [] if folder.linked else [replace(subfolder[0], linked=True)]
