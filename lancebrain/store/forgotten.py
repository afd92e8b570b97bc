"""What was forgotten and is to stay out: a file beside the table, obeyed by every look.

An entry is written before anything is taken out, and marked done when all of it is, so that a
crash between leaves documents that no look takes in again, and an entry that says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from lancebrain.errors import StoreError

from .failures import translated
from .filters import path_matcher
from .storage import Where, storage_of

_FILE = "forgotten.json"


@dataclass(frozen=True, slots=True)
class ForgottenEntry:
    """Documents that stay out of the index.

    Attributes:
        path: of a document, a folder, or a glob, as in :class:`lancebrain.types.Filter`.
        at: when it was asked for.
        done: nothing of them is left; False when that was cut short, or is still under way.
    """

    path: str
    at: datetime
    done: bool


class Forgotten:
    """The entries of one index; writers hold the index lock."""

    def __init__(self, where: Where) -> None:
        self._storage = storage_of(where)

    def read(self) -> list[ForgottenEntry]:
        """All entries, in the order in which they came.

        Raises:
            StoreError: the file cannot be understood; taking that for "none" would let what was
                forgotten in again.
        """
        with translated(self._storage, "reading what was forgotten"):
            content = self._storage.read(_FILE)
        if content is None:
            return []
        try:
            return [
                ForgottenEntry(
                    str(entry["path"]), datetime.fromisoformat(entry["at"]), bool(entry["done"])
                )
                for entry in json.loads(content)
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"The list of what was forgotten, {_FILE} in {self._storage}, is damaged: {error}",
                hint="Correct it, or delete it and forget anew what is to stay out.",
            ) from error

    def add(self, paths: Sequence[str], at: datetime) -> None:
        """Let documents stay out from now on; not done yet."""
        kept = [entry for entry in self.read() if entry.path not in paths]
        self._write([*kept, *(ForgottenEntry(path, at, False) for path in paths)])

    def finish(self, paths: Collection[str]) -> None:
        """Nothing of these is left."""
        self._write([replace(e, done=e.done or e.path in paths) for e in self.read()])

    def remove(self, paths: Collection[str]) -> None:
        """Let documents in again; paths without an entry are passed over."""
        self._write([entry for entry in self.read() if entry.path not in paths])

    def matcher(self) -> Callable[[str], bool] | None:
        """Tells which document paths stay out; None when none does."""
        matchers = [path_matcher(entry.path) for entry in self.read()]
        if not matchers:
            return None
        return lambda path: any(matches(path) for matches in matchers)

    def _write(self, entries: Sequence[ForgottenEntry]) -> None:
        lines = [{**asdict(e), "at": e.at.astimezone(UTC).isoformat()} for e in entries]
        text = json.dumps(lines, ensure_ascii=False, indent=1)
        self._storage.write(_FILE, text)
