"""Folder trees as literals, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Link:
    """A symlink in a tree; ``target`` is taken as written."""

    target: str


Tree = Mapping[str, "str | bytes | Link | Tree"]


def write_tree(root: Path, tree: Tree) -> Path:
    """Write files and folders below ``root``; returns ``root``.

    ``{"a.md": "text", "raw.bin": b"\\x00", "sub/deep.md": "", "folder": {}, "l": Link("a.md")}``:
    text is written as UTF-8 with its own line ends, a mapping is a folder, missing parents are
    made, and what exists is overwritten. A byte that is no UTF-8 in a name is written as its
    surrogate escape (``"caf\\udce9.md"``).
    """
    root.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Mapping):
            write_tree(path, content)
        elif isinstance(content, Link):
            path.unlink(missing_ok=True)
            path.symlink_to(content.target)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_bytes(content.encode())
    return root
