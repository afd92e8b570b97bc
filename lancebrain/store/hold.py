"""The hold: while it is set, live sync rests, because someone rolled the index back.

A file of its own, written before the table is restored and marked done after it, so that a crash
between the two leaves a hold that everyone sees, and that says so.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from lancebrain.errors import StoreError

from .failures import translated
from .storage import Where, storage_of

_FILE = "hold.json"


@dataclass(frozen=True, slots=True)
class HoldInfo:
    """What the index is held at.

    Attributes:
        ref: as the user named it: a version, a tag, a time.
        version: that ``ref`` meant.
        at: when it was set.
        before: the version that was current then; 0 when that was not written down.
        done: the index was restored; False when that was cut short, or is still under way.
    """

    ref: str
    version: int
    at: datetime
    before: int = 0
    done: bool = True


class Hold:
    """The hold of one index."""

    def __init__(self, where: Where) -> None:
        self._storage = storage_of(where)

    def read(self) -> HoldInfo | None:
        """The hold, or None.

        Raises:
            StoreError: the file cannot be understood; taking that for "no hold" would let sync
                undo a rollback.
        """
        with translated(self._storage, "reading the hold"):
            content = self._storage.read(_FILE)
        if content is None:
            return None
        try:
            fields = json.loads(content)
            return HoldInfo(
                ref=str(fields["ref"]),
                version=int(fields["version"]),
                at=datetime.fromisoformat(fields["at"]),
                before=int(fields.get("before", 0)),
                done=bool(fields.get("done", True)),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"The hold {_FILE} in {self._storage} is damaged: {error}",
                hint="Run `lancebrain resume` to lift it.",
            ) from error

    def is_set(self) -> bool:
        """Whether there is a hold, be it one that cannot be understood."""
        with translated(self._storage, "looking for the hold"):
            return self._storage.read(_FILE) is not None

    def set(
        self, ref: str, version: int, at: datetime, *, before: int = 0, done: bool = True
    ) -> None:
        """Set the hold, in place of any before; durable when this returns."""
        self.put(HoldInfo(ref, version, at, before, done))

    def put(self, info: HoldInfo) -> None:
        """The same, with all of it in one."""
        fields = {**asdict(info), "at": info.at.astimezone(UTC).isoformat()}
        self._storage.write(_FILE, json.dumps(fields, ensure_ascii=False))

    def clear(self) -> None:
        """Lift the hold; nothing happens when there is none."""
        with translated(self._storage, "lifting the hold"):
            self._storage.remove(_FILE)
