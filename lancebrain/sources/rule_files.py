"""Reading files of ignore rules, and remembering as what they were read."""

from __future__ import annotations

import stat
from pathlib import Path

from lancebrain.sources.patterns import Patterns, compile_patterns, lines_of

Stamp = tuple[int, int, int]
"""``st_mtime_ns``, ``st_size`` and ``st_ino``."""

_NONE = compile_patterns(())


class UnreadableRulesError(OSError):
    """A file of rules is there and cannot be read, so that nobody knows what it leaves out."""


class RuleFiles:
    """The files that a set of rules was made from.

    Attributes:
        stamps: file → its stamp when it was read, None where it was looked for in vain.
        faults: what cannot be used, as (file, sentence).
    """

    __slots__ = ("faults", "stamps")

    def __init__(self) -> None:
        self.stamps: dict[Path, Stamp | None] = {}
        self.faults: list[tuple[Path, str]] = []

    def read(self, file: Path, *, follow: bool) -> Patterns:
        """The patterns in a file: none where it is missing, or no file.

        Args:
            follow: read it through a symlink. Git does not.

        Raises:
            UnreadableRulesError: it cannot be read; that is among the faults, too.
        """
        self.stamps[file] = stamp_of(file)
        try:
            mode = (file.stat() if follow else file.lstat()).st_mode
            if not stat.S_ISREG(mode):
                return _NONE
            patterns = compile_patterns(lines_of(file.read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            return _NONE
        except OSError as error:
            sentence = f"It cannot be read: {error.strerror}. What is known of its folder is kept."
            self.faults.append((file, sentence))
            raise UnreadableRulesError(error.errno, error.strerror, str(file)) from None
        for line in patterns.invalid:
            self.faults.append((file, f"The line {line!r} is not a pattern, and ignores nothing."))
        return patterns

    def changed(self) -> bool:
        """Whether any of the files is not as it was."""
        return any(stamp_of(file) != stamp for file, stamp in self.stamps.items())


def stamp_of(file: Path) -> Stamp | None:
    """The stamp of a file as it is now; None where there is none or it cannot be told."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
