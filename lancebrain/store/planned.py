"""A change of the model that was asked for and is not done: a small file beside the table.

What the new model gives meanwhile is kept beside it too, so that whoever is killed, any process
goes on where it stopped. Losing the file means that the change has to be asked for again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from .failures import translated
from .storage import Where, storage_of

_FILE = "model.json"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """The model that an index is to have.

    Attributes:
        model: as a person names it.
        fingerprint, dim: of its vectors.
        at: when it was asked for, UTC-aware.
        by_itself: nobody asked for it.
    """

    model: str
    fingerprint: str
    dim: int
    at: datetime
    by_itself: bool = False


class ModelPlan:
    """The plan of one index; writers hold the index lock."""

    def __init__(self, where: Where) -> None:
        self._storage = storage_of(where)

    def read(self) -> PlannedChange | None:
        """What is planned, if anything is."""
        planned: Any = self._content().get("planned")
        try:
            return PlannedChange(
                model=str(planned["model"]),
                fingerprint=str(planned["fingerprint"]),
                dim=int(planned["dim"]),
                at=datetime.fromisoformat(planned["at"]),
                by_itself=bool(planned.get("by_itself", False)),
            )
        except (KeyError, TypeError, ValueError):
            return None

    def is_settled(self) -> bool:
        """Whether it was decided ever, by a person or by itself, which model is to be used."""
        return bool(self._content().get("settled", False))

    def put(self, planned: PlannedChange | None) -> None:
        """Plan a change, or settle that there is none; durable when this returns."""
        fields = None
        if planned is not None:
            fields = {**asdict(planned), "at": planned.at.astimezone(UTC).isoformat()}
        content = {"settled": True, "planned": fields}
        self._storage.write(_FILE, json.dumps(content, ensure_ascii=False))

    def drop(self) -> None:
        """Begin anew, for a new table."""
        with translated(self._storage, "dropping what was planned"):
            self._storage.remove(_FILE)

    def _content(self) -> dict[str, Any]:
        with translated(self._storage, "reading what is planned"):
            found = self._storage.read(_FILE)
        try:
            content = json.loads(found or b"")
        except ValueError:
            return {}
        return content if isinstance(content, dict) else {}
