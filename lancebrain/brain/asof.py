"""An earlier version of an index, to read: the same answers and the same data, as of then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from lancebrain.brain.data import Data
from lancebrain.errors import StoreError
from lancebrain.types import Answer, Query, Status

if TYPE_CHECKING:
    from lancebrain.brain.asking import Asking
    from lancebrain.brain.passages import Passage
    from lancebrain.store import Snapshot


class AsOf(Data):
    """One version of an index, which stays the same whatever is synced meanwhile.

    Attributes:
        version: its number.
    """

    def __init__(self, asking: Asking, ref: str) -> None:
        self._asking = asking
        self._read = asking._snapshot(ref)
        self.version: int = self._read.version

    def search(self, question: str | Query, **options: Any) -> Answer:
        """As :meth:`Asking.search`, with its options."""
        return self._asking.search(question, at=self._ref(), **options)

    def show(self, what: str, **options: Any) -> Passage:
        """As :meth:`Asking.show`, with its options."""
        return self._asking.show(what, at=self._ref(), **options)

    def status(self) -> Status:
        """As :meth:`Asking.status`."""
        return self._asking.status(at=self._ref())

    def export(self, target: BinaryIO, **options: Any) -> None:
        """As :meth:`Asking.export`, with its options."""
        self._asking.export(target, at=self._ref(), **options)

    def _ref(self) -> str:
        """The version's number, if it still means this version."""
        ref = str(self.version)
        if self._asking._snapshot(ref).identity != self._read.identity:
            raise StoreError(
                f"Version {ref} is another one by now: the index was written anew.",
                hint="Choose one from `lancebrain history`.",
            )
        return ref

    def _snapshot(self, at: str | None) -> Snapshot:
        return self._read if at is None else self._asking._snapshot(at)
