"""What is left out of a source: one set of rules for the walk and for the watcher.

From strong to weak; the first that says anything about an entry decides:

1. folders of version control, the index itself and roots of other sources: never taken;
2. the source's ``exclude``;
3. ``.lancebrainignore``, the one nearest to the entry first;
4. the names in :mod:`lancebrain.sources.defaults`;
5. git's rules, if they are on, but not for session logs: ``.gitignore`` from the entry's folder
   up to the top of its repository, then ``.git/info/exclude``. A file that git tracks all the
   same is left out too.

A folder that is out is not entered, so nothing below it can be taken in again. ``include`` then
narrows what is left: a file is taken if it, or the nearest folder above that a pattern names, is
included.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from lancebrain import osnames
from lancebrain.errors import ConfigError
from lancebrain.kinds import LOGS
from lancebrain.sources.defaults import FOLDERS, NEVER
from lancebrain.sources.patterns import NameFilter, Patterns, compile_patterns, screen_of
from lancebrain.sources.repository import exclude_file
from lancebrain.sources.rule_files import RuleFiles, Stamp, UnreadableRulesError
from lancebrain.sources.scopes import GIT_FILE, FolderRules, Scope, git_above, verdict_of
from lancebrain.sources.wanted import WantedNames
from lancebrain.types import Problem, Source

OWN_FILE = ".lancebrainignore"
GIT_FOLDER = ".git"
RULE_NAMES = frozenset({OWN_FILE, GIT_FILE, GIT_FOLDER})
"""Entries of a folder that change the rules when they come, go or change."""

_EVERY_NAME = NameFilter(["*"])


class IgnoreRules:
    """The rules of one source, read from disk as folders are asked about, each file once.

    An instance stays as it was when files change: :meth:`stale` tells, and a new one is made.

    Args:
        source: whose entries are judged.
        gitignore: let git's rules count.
        index_folder: is never taken, when it lies in the source.
        other_roots: roots of other sources: what lies in one of them is its own.

    Raises:
        ConfigError: ``include`` or ``exclude`` holds a line that is no pattern.
    """

    def __init__(
        self,
        source: Source,
        *,
        gitignore: bool = True,
        index_folder: Path | None = None,
        other_roots: Iterable[Path] = (),
    ) -> None:
        self.source = source
        self.real_root = Path(os.path.realpath(source.root))
        # Who keeps the folder of a program in git leaves out its logs, which are wanted here.
        self._gitignore = gitignore and source.kind not in LOGS
        self._files = RuleFiles()
        self._folders: dict[str, FolderRules | None] = {}
        others = [*other_roots, *([] if index_folder is None else [index_folder])]
        self._never = frozenset(self._below_root(others))
        self._exclude = self._configured("exclude")
        self._include = self._configured("include")
        self.wanted = WantedNames(source)

    @property
    def files(self) -> Mapping[Path, Stamp | None]:
        """The files that these rules were made from, as they were; None for one not there."""
        return self._files.stamps

    def stale(self) -> bool:
        """Whether a file that these rules were made from is not as it was.

        One that is new within the source is told by an event: see :meth:`is_rule_file`.
        """
        return self._files.changed()

    def is_rule_file(self, path: Path) -> bool:
        """Whether an event on this path means that the rules may have changed."""
        return path.name in RULE_NAMES or path in self._files.stamps

    def problems(self) -> list[Problem]:
        """Files of rules that cannot be read, lines that are no pattern."""
        found = []
        for file, sentence in self._files.faults:
            if file.is_relative_to(self.source.root):
                below = osnames.to_text(file.relative_to(self.source.root).as_posix())
                found.append(Problem(f"{self.source.name}/{below}", "ignore-rule", sentence))
            else:
                sentence = f"{osnames.to_text(str(file))}: {sentence}"
                found.append(Problem(self.source.name, "ignore-rule", sentence))
        return found

    def is_ignored(self, path: Path, is_dir: bool) -> bool:
        """Whether the walk would pass by this file, or not enter this folder.

        Only names count: the path need not exist, and symlinks are not looked through.

        Args:
            path: absolute, below the source's root as that is spelled.
        """
        if not path.is_relative_to(self.source.root):
            return True
        relative = path.relative_to(self.source.root).as_posix()
        if relative == ".":
            return False
        if is_dir:
            return self.folder(relative + "/") is None
        rules = self.folder(relative.rpartition("/")[0] + "/" if "/" in relative else "")
        return rules is None or not self.takes_file(rules, path.name, relative)

    def folder(self, relative: str) -> FolderRules | None:
        """The rules for the entries of a folder, or None when it is out; remembered.

        Args:
            relative: path below the root that ends in a slash, ``""`` for the root.
        """
        if relative not in self._folders:
            rules: FolderRules | None
            if relative:
                above, slash, name = relative[:-1].rpartition("/")
                around = self.folder(above + slash)
                rules = around and self.below(around, name, relative[:-1])
            else:
                rules = self._around_root_as_far_as_known()
            if rules is None:
                self._folders[relative] = None
            else:
                with suppress(UnreadableRulesError):  # then those from outside are all there is
                    self.inside(rules, relative, _present(self.source.root / relative))
        return self._folders[relative]

    def around_root(self) -> FolderRules:
        """The rules as they are outside of the root: of the configuration, and of git above.

        Raises:
            UnreadableRulesError: a file of git cannot be read.
        """
        git = git_above(self.real_root, self._files) if self._gitignore else ()
        return replace(self._configured_rules(), git=git)

    def below(self, rules: FolderRules, name: str, relative: str) -> FolderRules | None:
        """Step up to a folder: the rules as they are outside of it, None when it is out.

        Args:
            rules: of the folder that it is in.
            relative: its path below the root, without a slash at the end.
        """
        if name in NEVER or relative in self._never or not self.source.recursive:
            return None
        verdict = verdict_of(rules.own, name, relative, is_folder=True)
        if verdict is None:
            verdict = name in FOLDERS or verdict_of(rules.git, name, relative, is_folder=True)
        if verdict:
            return None
        if self._include:
            included = self._include.verdict(name, relative, is_folder=True)
            if included is not None:
                return replace(rules, included=included)
        return rules

    def inside(self, rules: FolderRules, relative: str, present: Collection[str]) -> FolderRules:
        """Step into a folder: its own files of rules join those from outside; remembered.

        Args:
            rules: as :meth:`below` or :meth:`around_root` gave them.
            relative: path below the root that ends in a slash, ``""`` for the root.
            present: names of the folder's entries, of which :data:`RULE_NAMES` count.

        Raises:
            UnreadableRulesError: one of them cannot be read.
        """
        self._folders[relative] = rules
        if not present:
            return rules
        depth = len(relative)
        folder = self.source.root / relative
        if OWN_FILE in present and (patterns := self._files.read(folder / OWN_FILE, follow=True)):
            configured = 1 if self._exclude else 0
            own = list(rules.own)
            own.insert(configured, Scope(patterns, depth))
            rules = replace(rules, own=tuple(own))
        if self._gitignore and GIT_FOLDER in present:
            # Another repository: what the one around it ignores does not count in here.
            private = self._files.read(exclude_file(folder), follow=True)
            rules = replace(rules, git=(Scope(private, depth),) if private else ())
        if self._gitignore and GIT_FILE in present:
            patterns = self._files.read(folder / GIT_FILE, follow=False)
            if patterns:
                rules = replace(rules, git=(Scope(patterns, depth), *rules.git))
        self._folders[relative] = rules
        return rules

    def takes_file(self, rules: FolderRules, name: str, relative: str) -> bool:
        """Whether a file is taken, as far as its name and place say.

        Args:
            rules: of the folder it is in.
            relative: its path below the root.
        """
        if not self.wanted.has(name):
            return False
        screen = self.screen(rules)
        return screen is None or not screen.passes(name) or self.lets_through(rules, name, relative)

    def screen(self, rules: FolderRules) -> NameFilter | None:
        """The names of files that a rule in this folder may leave out; None: no rule does."""
        if self._include:
            return _EVERY_NAME
        patterns = tuple(scope.patterns for scope in (*rules.own, *rules.git))
        return screen_of(patterns) if patterns else None

    def lets_through(self, rules: FolderRules, name: str, relative: str) -> bool:
        """Whether no rule leaves out a file whose name is wanted; as :meth:`takes_file`."""
        verdict = verdict_of(rules.own, name, relative, is_folder=False)
        if verdict is None:
            verdict = verdict_of(rules.git, name, relative, is_folder=False)
        if verdict:
            return False
        included = self._include.verdict(name, relative, is_folder=False)
        return rules.included if included is None else included

    def is_of_others(self, real: str) -> bool:
        """Whether a place belongs to another source or is the index.

        Args:
            real: absolute, without symlinks.
        """
        if not self._never or not Path(real).is_relative_to(self.real_root):
            return False
        below = Path(real).relative_to(self.real_root)
        return any(place.as_posix() in self._never for place in (below, *below.parents))

    def _configured_rules(self) -> FolderRules:
        own = (Scope(self._exclude),) if self._exclude else ()
        return FolderRules(own, (), included=not self._include)

    def _around_root_as_far_as_known(self) -> FolderRules:
        try:
            return self.around_root()
        except UnreadableRulesError:
            return self._configured_rules()

    def _below_root(self, places: Iterable[Path]) -> Iterator[str]:
        """Those of the places that are below the root, as paths below it."""
        for place in places:
            real = Path(os.path.realpath(place))
            if real != self.real_root and real.is_relative_to(self.real_root):
                yield real.relative_to(self.real_root).as_posix()

    def _configured(self, key: str) -> Patterns:
        patterns = compile_patterns(tuple(getattr(self.source, key)))
        if patterns.invalid:
            raise ConfigError(
                f"Source {self.source.name!r}: {key} holds {patterns.invalid[0]!r}, "
                "which is not a pattern as in .gitignore."
            )
        return patterns


def _present(folder: Path) -> frozenset[str]:
    """Which of :data:`RULE_NAMES` a folder has."""
    return frozenset(name for name in RULE_NAMES if os.path.lexists(folder / name))
