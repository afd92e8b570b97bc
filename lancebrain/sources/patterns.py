"""The lines of one ignore file, asked about one entry at a time.

pathspec turns each line into a regular expression. Git's rule is then applied as git does it on
its way down: an entry is judged by the last line that matches the entry itself, and what is below
a folder that is out is never asked about. (``GitIgnoreSpec.match_file`` also lets a line match
through the entry's parents, takes ``cache/**`` to mean ``cache`` too, and tries every line on
every path, which costs more than the ``stat``.)

Format: https://git-scm.com/docs/gitignore
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_PARENT_MARK = "ps_d"
"""pathspec's group for the slash after the part that a line matched: of the entry or a parent."""

_SPECIAL = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class _Line:
    """One pattern.

    Attributes:
        ignores: False for a negation.
        by_name: without a slash in it, so it is matched with the last part of a path alone.
        folders_only: ends in a slash.
    """

    regex: re.Pattern[str]
    ignores: bool
    by_name: bool
    folders_only: bool

    def matches(self, name: str, path: str, is_folder: bool) -> bool:
        subject = name if self.by_name else path
        found = self.regex.search(subject)
        if found is not None and found.groupdict().get(_PARENT_MARK) is None:
            return True
        if not is_folder:
            return False
        found = self.regex.search(subject + "/")
        if found is None or _PARENT_MARK not in found.groupdict():
            return False
        return found.end(_PARENT_MARK) == len(subject) + 1


class NameFilter:
    """Whether any of some patterns could match an entry of this name; never a false no.

    A pattern can match an entry only if its last part matches the entry's name. Most last parts
    are a literal with at most one star at an end (``node_modules``, ``*.log``, ``.env.*``), which
    cost a look-up.
    """

    __slots__ = ("anything", "names", "pieces", "prefixes", "suffixes")

    def __init__(self, last_parts: Iterable[str]) -> None:
        names, prefixes, suffixes, pieces = set(), set(), set(), set()
        for part in last_parts:
            if not _SPECIAL.search(part):
                names.add(part)
            elif part.startswith("*") and not _SPECIAL.search(part[1:]):
                suffixes.add(part[1:])
            elif part.endswith("*") and not _SPECIAL.search(part[:-1]):
                prefixes.add(part[:-1])
            else:
                # The longest literal run before brackets or escapes has to be in the name.
                pieces.add(max(re.split(r"[*?]", re.split(r"[\[\\]", part)[0]), key=len))
        self.names = frozenset(names)
        self.prefixes = tuple(prefixes)
        self.suffixes = tuple(suffixes)
        self.anything = "" in suffixes | prefixes | pieces
        self.pieces = re.compile("|".join(map(re.escape, pieces))) if pieces else None

    def passes(self, name: str) -> bool:
        return (
            name in self.names
            or name.endswith(self.suffixes)
            or name.startswith(self.prefixes)
            or self.anything
            or (self.pieces is not None and self.pieces.search(name) is not None)
        )


class Patterns:
    """Compiled patterns in their order; see :func:`compile_patterns`.

    Attributes:
        invalid: the lines that are no pattern, as written; they match nothing.
        file_parts: the last parts of the patterns that can match a file.
    """

    __slots__ = ("_files", "_folders", "_lines", "file_parts", "invalid")

    def __init__(self, lines: Iterable[str]) -> None:
        compiled: list[_Line] = []
        invalid: list[str] = []
        last_parts: list[tuple[str, bool]] = []
        for line in lines:
            text = _as_git_reads(line)
            try:
                pattern = GitIgnoreSpecPattern(text)
            except GitIgnorePatternError:
                invalid.append(line)
                continue
            if pattern.regex is None or pattern.include is None:
                continue
            body = text.removeprefix("!") if not pattern.include else text
            body = body if body.endswith("\\ ") else body.rstrip()
            bare = body.rstrip("/")
            compiled.append(
                _Line(
                    regex=pattern.regex,
                    ignores=pattern.include,
                    by_name="/" not in bare,
                    folders_only=body.endswith("/"),
                )
            )
            last_parts.append((bare.rpartition("/")[2], body.endswith("/")))
        self._lines = tuple(reversed(compiled))
        self.file_parts = tuple(part for part, folders_only in last_parts if not folders_only)
        self._files = NameFilter(self.file_parts)
        self._folders = NameFilter(part for part, _ in last_parts)
        self.invalid = tuple(invalid)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def may_match(self, name: str, is_folder: bool) -> bool:
        """A quick look at the name alone; when False, :meth:`verdict` is None."""
        return (self._folders if is_folder else self._files).passes(name)

    def verdict(self, name: str, path: str, is_folder: bool) -> bool | None:
        """What the last line that matches this entry says.

        Args:
            name: the last part of ``path``.
            path: relative to the folder of the ignore file, without a slash at its end.

        Returns:
            True to ignore it, False to take it, None when no line matches.
        """
        for line in self._lines:
            if (is_folder or not line.folders_only) and line.matches(name, path, is_folder):
                return line.ignores
        return None


def _as_git_reads(line: str) -> str:
    """A line in the form in which pathspec reads it as git does.

    A part of three or more stars is two; ``a/**/`` is the folders in ``a``, not ``a`` itself;
    ``/**/a`` is ``a`` anywhere.
    """
    line = re.sub(r"(?<![^/!])\*{3,}(?=/|\s*$)", "**", line)
    line = re.sub(r"/\*\*/\s*$", "/**/*/", line)
    return re.sub(r"^(!?)/?(?:\*\*/)+(?=[^/\s#!][^/]*/?\s*$)", r"\1", line)


@lru_cache(maxsize=512)
def compile_patterns(lines: tuple[str, ...]) -> Patterns:
    """Patterns of these lines; kept, since every look reads the same few files again."""
    return Patterns(lines)


@lru_cache(maxsize=512)
def screen_of(patterns: tuple[Patterns, ...]) -> NameFilter:
    """The names of files that any of these patterns may speak of, in one check."""
    return NameFilter(part for each in patterns for part in each.file_parts)


def lines_of(raw: bytes) -> tuple[str, ...]:
    """The lines of an ignore file, in the form that file names have in Python."""
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return tuple(line.removesuffix("\r") for line in text.split("\n"))
