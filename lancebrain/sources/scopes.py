"""Ignore files in force: which of them speak of the entries of a folder, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lancebrain.sources.patterns import Patterns
from lancebrain.sources.repository import exclude_file, repository_above
from lancebrain.sources.rule_files import RuleFiles

GIT_FILE = ".gitignore"


@dataclass(frozen=True, slots=True)
class Scope:
    """Patterns, and how a path below the root becomes relative to their own folder.

    Attributes:
        skip: length of the folder's path below the root, with its slash.
        lead: for a folder above the root: the root's path below it, with its slash.
    """

    patterns: Patterns
    skip: int = 0
    lead: str = ""

    def verdict(self, name: str, relative: str, is_folder: bool) -> bool | None:
        if not self.patterns.may_match(name, is_folder):
            return None
        return self.patterns.verdict(name, self.lead + relative[self.skip :], is_folder)


@dataclass(frozen=True, slots=True)
class FolderRules:
    """The rules that hold for the entries of one folder; scopes stand from strong to weak.

    Attributes:
        own: of the source's ``exclude`` and of ``.lancebrainignore``.
        git: of git.
        included: the folder is taken by the source's ``include``.
    """

    own: tuple[Scope, ...]
    git: tuple[Scope, ...]
    included: bool


def verdict_of(
    scopes: tuple[Scope, ...], name: str, relative: str, *, is_folder: bool
) -> bool | None:
    """What the strongest scope says that says anything: True to ignore the entry."""
    for scope in scopes:
        verdict = scope.verdict(name, relative, is_folder)
        if verdict is not None:
            return verdict
    return None


def git_above(real_root: Path, files: RuleFiles) -> tuple[Scope, ...]:
    """Git's rules of the folders above a root, up to the top of the repository it lies in.

    When they leave the root itself out, git knows nothing of what is in it, and someone has made
    it a source all the same: then they do not count. (The usual case is a home folder under
    version control whose ``.gitignore`` says ``*``.)

    Args:
        real_root: absolute, without symlinks.
        files: reads and remembers them, also those that are not there.
    """
    top = repository_above(real_root)
    if top is None:
        return ()
    found: list[tuple[Path, Patterns]] = []
    folder = top
    for name in real_root.relative_to(top).parts:
        for file in (*([exclude_file(top)] if folder == top else []), folder / GIT_FILE):
            if patterns := files.read(file, follow=file.name != GIT_FILE):
                found.insert(0, (folder, patterns))
        folder /= name
        for place, patterns in found:
            verdict = patterns.verdict(name, folder.relative_to(place).as_posix(), True)
            if verdict:
                return ()
            if verdict is not None:
                break
    return tuple(
        Scope(patterns, lead=real_root.relative_to(place).as_posix() + "/")
        for place, patterns in found
    )
