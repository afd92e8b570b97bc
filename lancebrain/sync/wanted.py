"""What a sync is asked to do: the options of one run, for whoever takes it step by step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a sync is asked to do.

    Attributes:
        scope: document paths, folders or source names to look at; None for all sources.
        dry_run: write nothing.
        agreed: a person confirmed the removals.
        dropped: names of sources whose documents are to go, unless the settings name them.
        seen_gone: document paths and folders that the watcher saw go.
        text_only: no text is embedded, however few there are; a backfill does it later.
    """

    scope: Sequence[str] | None = None
    dry_run: bool = False
    agreed: bool = False
    dropped: Collection[str] = ()
    seen_gone: Collection[str] = ()
    text_only: bool = False
