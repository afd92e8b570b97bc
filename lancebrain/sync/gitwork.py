"""What git took away: files that it had in an earlier state of the work tree and has no more.

Asked only where so many documents have lost their file that one would rather ask a person. A
checkout, a reset or a stash explains them; ``rm`` does not, since git still expects the file.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

_STATES = 20
"""So many places where HEAD was are asked, the latest first."""
_TIMEOUT_S = 10.0
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotepath=false")


def taken_away(root: Path, files: Collection[Path]) -> set[Path]:
    """Those of the files that git took away; none where git cannot be asked.

    Args:
        root: a folder in a work tree, or not in one.
        files: absolute, below the root; none of them is there.
    """
    listed = _names(root, "ls-files", "-z")
    if listed is None:
        return set()
    names = {os.fsencode(file.relative_to(root).as_posix()): file for file in files}
    unexplained = names.keys() - set(listed)
    explained: set[Path] = set()
    for state in _names(root, "reflog", "--format=%H", "-z", "-n", str(_STATES)) or ():
        tree = _names(root, "ls-tree", "-r", "-z", "--name-only", os.fsdecode(state))
        found = unexplained.intersection(tree or ())
        explained.update(names[name] for name in found)
        unexplained -= found
        if not unexplained:
            break
    return explained


def _names(root: Path, *arguments: str) -> list[bytes] | None:
    """What a git command lists, or None when it fails."""
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(root), *arguments],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return [name for name in done.stdout.split(b"\0") if name] if done.returncode == 0 else None
