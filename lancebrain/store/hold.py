"""The hold: while it is set, live sync rests, because someone rolled the index back.

A file of its own, written before the table is restored and marked done after it, so that a crash
between the two leaves a hold that everyone sees, and that says so.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from lancebrain.errors import StoreError

from .beside import write_beside
from .failures import translated


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
    """The hold of one index folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "hold.json"

    def read(self) -> HoldInfo | None:
        """The hold, or None.

        Raises:
            StoreError: the file cannot be understood; taking that for "no hold" would let sync
                undo a rollback.
        """
        with translated(self._folder, "reading the hold"):
            try:
                content = self._file.read_bytes()
            except FileNotFoundError:
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
                f"The hold in {self._file} is damaged: {error}",
                hint="Run `lancebrain resume` to lift it.",
            ) from error

    def is_set(self) -> bool:
        """Whether there is a hold, be it one that cannot be understood."""
        with translated(self._folder, "looking for the hold"):
            return self._file.exists()

    def set(
        self, ref: str, version: int, at: datetime, *, before: int = 0, done: bool = True
    ) -> None:
        """Set the hold, in place of any before; durable when this returns."""
        self.put(HoldInfo(ref, version, at, before, done))

    def put(self, info: HoldInfo) -> None:
        """The same, with all of it in one."""
        fields = {**asdict(info), "at": info.at.astimezone(UTC).isoformat()}
        write_beside(self._folder, self._file.name, json.dumps(fields, ensure_ascii=False))

    def clear(self) -> None:
        """Lift the hold; nothing happens when there is none."""
        with translated(self._folder, "lifting the hold"):
            self._file.unlink(missing_ok=True)
