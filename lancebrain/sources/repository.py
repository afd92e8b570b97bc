"""Where git keeps ignore rules outside of the folder they speak of."""

from __future__ import annotations

import os
from pathlib import Path


def repository_above(folder: Path) -> Path | None:
    """The top of the git repository that ``folder`` lies in; None if it is a top itself, or none.

    Args:
        folder: absolute, without symlinks.
    """
    if (folder / ".git").exists():
        return None
    return next((parent for parent in folder.parents if (parent / ".git").exists()), None)


def exclude_file(top: Path) -> Path:
    """The file of ignore rules that are private to a clone: ``info/exclude``; it need not exist.

    In a worktree or submodule ``.git`` is a file that says where the folder is, and the folder of
    a worktree says in ``commondir`` which one it shares with the others.

    Args:
        top: absolute folder that has a ``.git``.
    """
    git = top / ".git"
    if git.is_file():
        git = top / _line_of(git).removeprefix("gitdir:").strip()
        git = git / _line_of(git / "commondir")
    return git / "info" / "exclude"


def _line_of(file: Path) -> str:
    """The one line that git keeps in such a file; ``""`` where it cannot be read."""
    try:
        return os.fsdecode(file.read_bytes()).strip()
    except OSError:
        return ""
