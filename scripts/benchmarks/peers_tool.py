"""What the ways to keep an index up to files have in common."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Protocol

from lancebrain.embedders import Embedder

Held = Counter[tuple[str, str]]


class Tool(Protocol):
    """A way to keep an index up to the Markdown files below a folder.

    Attributes:
        name: for people.
        root: the folder.
        store: where it keeps what it knows; it need not exist.
    """

    name: str
    root: Path
    store: Path

    def __init__(self, root: Path, store: Path, model: Embedder) -> None: ...

    def start(self) -> float:
        """Begin, as a process does; seconds of work, without what is imported."""
        ...

    def settle(self) -> float:
        """Take in what has changed; seconds of work, without waiting for events."""
        ...

    def stop(self) -> None:
        """End, and leave the store for the next start."""
        ...

    def held(self) -> Held:
        """The texts that are more than blank, each with the file that it is said to be in."""
        ...
