"""What an analysis gives: a table, what it says in a sentence or two, and how to draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lancebrain.analysis.extras import require

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Chart:
    """How to draw an analysis.

    Attributes:
        kind: ``bars`` (lying, the first on top), ``lines`` or ``points``.
        x_label, y_label: of the axes.
        labels: of the bars.
        x: of lines and points: numbers or times.
        series: values by name, of one length each: of bars stacked on each other, of several
            lines; of points the one named ``y``.
        colours: of points: a number each, with -1 for a point apart.
        colour_names: what these numbers mean.
    """

    kind: Literal["bars", "lines", "points"]
    x_label: str
    y_label: str
    series: Mapping[str, Sequence[float] | NDArray[np.float32]]
    labels: Sequence[str] = ()
    x: Sequence[Any] | NDArray[np.float32] = ()
    colours: NDArray[np.int64] | None = None
    colour_names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis of one version of an index.

    Attributes:
        name: that it was asked for by.
        title: one line for people.
        version: that it is of.
        summary: sentences that say what there is to see.
        table: a row each of what was found, what matters most first.
        chart: how to draw it.
    """

    name: str
    title: str
    version: int
    summary: tuple[str, ...]
    table: pa.Table
    chart: Chart

    def to_pandas(self) -> pd.DataFrame:
        """The rows for pandas; needs ``lancebrain[data]``."""
        require("pandas")
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The rows for Polars; needs ``lancebrain[data]``."""
        frame: pl.DataFrame = require("polars").from_arrow(self.table)
        return frame

    def to_dict(self, limit: int | None = None) -> dict[str, object]:
        """Plain values, as ``--json`` prints them.

        Args:
            limit: rows at most.
        """
        return {
            "name": self.name,
            "title": self.title,
            "version": self.version,
            "summary": list(self.summary),
            "rows": self.table.slice(0, limit).to_pylist(),
        }

    def plot(self, file: Path | str) -> None:
        """Draw it into a file; needs ``lancebrain[data]``.

        Args:
            file: its ending tells the format: ``.svg``, ``.png`` or ``.pdf``.

        Raises:
            UsageError: the ending is another one.
            StoreError: the file cannot be written.
        """
        from lancebrain.analysis.plot import draw

        draw(self, Path(file))
