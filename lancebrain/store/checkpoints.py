"""Checkpoints: versions with a name, kept until the name is taken away.

The names are Lance's tags, which alone decide what is kept; what was said about each is a small
file beside the table.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lancebrain.errors import StoreError, UsageError
from lancebrain.moments import moment

from . import tags
from .beside import CHECKPOINTS_FILE
from .failures import translated

if TYPE_CHECKING:
    from .table import Store

_MOST_AUTOMATIC = 20
_WORDS = frozenset({"latest", "current"})


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A version with a name.

    Attributes:
        message: what its maker said.
        at: when it was named, UTC-aware; None when that was not recorded.
        automatic: made before something that cannot be undone otherwise.
    """

    name: str
    version: int
    message: str = ""
    at: datetime | None = None
    automatic: bool = False


class Checkpoints:
    """The checkpoints of an index.

    Args:
        store: the index.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> list[Checkpoint]:
        """All of them, the newest version first."""
        said = self._said()
        checkpoints = [
            _checkpoint(name, version, said.get(name, {}))
            for name, version in self._store.tags().items()
        ]
        return sorted(checkpoints, key=lambda c: (-c.version, c.name))

    def by_version(self) -> dict[int, tuple[Checkpoint, ...]]:
        """The checkpoints of each version that has one."""
        found: defaultdict[int, tuple[Checkpoint, ...]] = defaultdict(tuple)
        for checkpoint in self.all():
            found[checkpoint.version] += (checkpoint,)
        return dict(found)

    def create(
        self, name: str, version: int, *, at: datetime, message: str = "", automatic: bool = False
    ) -> Checkpoint:
        """Name a version; the caller holds the index lock.

        Raises:
            UsageError: the name is taken, not allowed, or would be read as something else.
        """
        self.check_name(name)
        checkpoint = Checkpoint(name, version, message, at, automatic)
        self._store.create_tag(name, version)
        try:
            self._write({**self._said(), name: _line(checkpoint)})
        except StoreError:
            self._store.delete_tag(name)
            raise
        return checkpoint

    def check_name(self, name: str) -> None:
        """See whether a version may be given this name.

        Raises:
            UsageError: it is taken, not allowed, or would be read as something else.
        """
        if is_reserved(name):
            raise UsageError(
                f"{name!r} cannot name a checkpoint: it would be read as a version or a time.",
                hint="Choose a name such as before-cleanup.",
            )
        tags.check_name(name, self._store.tags())

    def create_automatic(self, before: str, version: int, *, at: datetime) -> Checkpoint:
        """Name a version before something is done to the index, unless it has a name already.

        Of those that were made so, the last twenty stay.

        Args:
            before: what is about to be done, such as ``rollback``.
        """
        for checkpoint in self.by_version().get(version, ()):
            return checkpoint
        made = f"before-{before}-{at.astimezone(UTC):%Y%m%d-%H%M%S}"
        names = itertools.chain((made,), (f"{made}-{number}" for number in itertools.count(2)))
        taken = self._store.tags()
        name = next(name for name in names if name not in taken)
        checkpoint = self.create(name, version, at=at, automatic=True)
        for old in [c for c in self.all() if c.automatic][_MOST_AUTOMATIC:]:
            self.delete(old.name)
        return checkpoint

    def delete(self, name: str) -> None:
        """Take a name away; its version goes with the next cleanup that is due.

        The caller holds the index lock.

        Raises:
            UsageError: there is no such checkpoint.
        """
        self._store.delete_tag(name)
        self._write({key: about for key, about in self._said().items() if key != name})

    def _said(self) -> Mapping[str, Mapping[str, object]]:
        with translated(self._store.storage, "reading what was said of its checkpoints"):
            content = self._store.storage.read(CHECKPOINTS_FILE)
        try:
            said = json.loads(content or b"")
        except ValueError:
            return {}  # the names, which count, are in the table
        return said if isinstance(said, dict) else {}

    def _write(self, said: Mapping[str, Mapping[str, object]]) -> None:
        self._store.storage.write(CHECKPOINTS_FILE, json.dumps(said, ensure_ascii=False))


def is_reserved(name: str) -> bool:
    """Whether a reference of this form means a version or a time."""
    if name in _WORDS or name.lstrip("vV").isdigit() or name.startswith("~"):
        return True
    try:
        moment(name)
    except UsageError:
        return False
    return True


def _line(checkpoint: Checkpoint) -> dict[str, object]:
    about = asdict(checkpoint)
    about["at"] = checkpoint.at.astimezone(UTC).isoformat() if checkpoint.at else None
    return {key: about[key] for key in ("message", "at", "automatic") if about[key]}


def _checkpoint(name: str, version: int, said: Mapping[str, object]) -> Checkpoint:
    at = said.get("at")
    try:
        when = datetime.fromisoformat(at) if isinstance(at, str) else None
    except ValueError:
        when = None
    automatic = bool(said.get("automatic", False))
    return Checkpoint(name, version, str(said.get("message", "")), when, automatic)
