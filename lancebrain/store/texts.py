"""Texts of rows that were candidates lately: of questions about a thing, mostly the same ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

Text = tuple[str, int, str]
"""Path, chunk_index and text."""

_COLUMNS = ("path", "chunk_index", "text")
_KEPT = 4_096
"""Some megabytes."""


class RecentTexts:
    """Those of one table, whatever its version.

    The id of a row is of the same text in every version that has it: Lance never gives the number
    of a piece of a table twice, not after a restore either, and what is written in place are
    vectors alone. Where versions were dropped it does, and the handles begin with new texts.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: dict[int, Text] = {}

    def of(
        self, row_ids: Sequence[int], take: Callable[[list[int], Sequence[str]], pa.Table]
    ) -> list[Text]:
        """The texts of some rows, in their order.

        Args:
            take: reads columns of rows by their ids, in their order.
        """
        with self._guard:
            found = {row_id: self._kept.pop(row_id) for row_id in row_ids if row_id in self._kept}
            self._kept |= found  # as the ones that were asked for last
        lacking = [row_id for row_id in row_ids if row_id not in found]
        if lacking:
            rows = take(lacking, _COLUMNS)
            columns = (rows[name].to_pylist() for name in _COLUMNS)
            read = dict(zip(lacking, zip(*columns, strict=True), strict=True))
            found |= read
            with self._guard:
                self._kept |= read
                for row_id in list(self._kept)[: max(len(self._kept) - _KEPT, 0)]:
                    del self._kept[row_id]
        return [found[row_id] for row_id in row_ids]
