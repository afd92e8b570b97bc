"""What git took away: files that it had in an earlier state of the work tree and has no more.

Asked only where so many documents have lost their file that one would rather ask a person. A
checkout, a reset or a stash explains them; ``rm`` does not, since git still expects the file.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from lancebrain.sources import file_of
from lancebrain.types import Source

_STATES = 20
"""So many places where HEAD was are asked, the latest first."""
_TIMEOUT_S = 10.0
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotepath=false")
_GONE = ("-z", "--name-only", "--no-renames", "--diff-filter=D", "--relative")


def taken_away(source: Source, paths: Iterable[str]) -> set[str]:
    """Those of the documents whose file git took away; none where git cannot be asked.

    Four calls of git at most, which can take seconds in a large repository.

    Args:
        source: whose root may be in a work tree.
        paths: documents of the source without a file.
    """
    root = source.root
    listed = _names(root, "ls-files", "-z")
    trees = _names(root, "reflog", "--format=%T", "-z", "-n", str(_STATES))
    if listed is None or not trees:
        return set()
    names = {
        os.fsencode(file_of(source, path).relative_to(root).as_posix()): path for path in paths
    }
    now, *before = dict.fromkeys(trees)
    # What an earlier state had and this one has not, and what this one had and the index has not.
    pairs = [b"%s %s\n" % (tree, now) for tree in before]
    gone = {
        *(_names(root, "diff-tree", "--stdin", "-r", *_GONE, given=pairs) or ()),
        *(_names(root, "diff-index", "--cached", *_GONE, os.fsdecode(now)) or ()),
    }
    return {names[name] for name in names.keys() & gone - set(listed)}


def _names(root: Path, *arguments: str, given: Sequence[bytes] = ()) -> list[bytes] | None:
    """What a git command lists, or None when it fails.

    Args:
        given: lines for it to read, which it repeats before what it has to say to each.
    """
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(root), *arguments],
            input=b"".join(given),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    said = done.stdout
    for line in given:
        said = said.replace(line, b"")
    return [name for name in said.split(b"\0") if name]
