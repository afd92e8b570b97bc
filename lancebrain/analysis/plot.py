"""Charts of analyses, drawn by Matplotlib into a file; no window is opened."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lancebrain.analysis.extras import require
from lancebrain.errors import StoreError, UsageError

if TYPE_CHECKING:
    from lancebrain.analysis.result import Analysis, Chart

_ENDINGS = (".svg", ".png", ".pdf")
_WIDTH, _HEIGHT = 9.0, 5.5
_BAR_HEIGHT = 0.28
_FEWEST_BARS = 4
_LABEL_CHARS = 60
_BESIDE: dict[str, Any] = {
    "loc": "center left",
    "bbox_to_anchor": (1, 0.5),
    "fontsize": "small",
    "frameon": False,
}
_DOTS_PER_INCH = 150
_RASTERISED_FROM = 2_000
"""Points: an SVG with an element for each of 100,000 would open in no program."""
# Those that have Chinese and Japanese, where there are any; the last is Matplotlib's own.
_FONTS = (
    "Noto Sans CJK JP",
    "Hiragino Sans",
    "Yu Gothic",
    "IPAGothic",
    "WenQuanYi Zen Hei",
    "DejaVu Sans",
)
_LACKS = "missing from font"
_STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "lancebrain",
    # What stands in a note is no formula.
    "text.parse_math": False,
}


def draw(analysis: Analysis, file: Path) -> None:
    """Draw an analysis into a file.

    Raises:
        LancebrainError: Matplotlib is not installed.
        UsageError: the file's ending names no format.
        StoreError: the file cannot be written.
    """
    if file.suffix.lower() not in _ENDINGS:
        raise UsageError(
            f"{file.name!r} names no format of a picture.",
            hint=f"End it with {', '.join(_ENDINGS)}.",
        )
    matplotlib = require("matplotlib")
    figure_of = require("matplotlib.figure").Figure
    known = set(require("matplotlib.font_manager").get_font_names())
    style = _STYLE | {"font.family": [font for font in _FONTS if font in known]}
    chart = analysis.chart
    with matplotlib.rc_context(style):
        height = _HEIGHT
        if chart.kind == "bars":
            height = max(2.5, 1.5 + _BAR_HEIGHT * len(chart.labels))
        figure = figure_of(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        {"bars": _bars, "lines": _lines, "points": _points}[chart.kind](axes, chart)
        axes.set(title=analysis.title, xlabel=chart.x_label, ylabel=chart.y_label)
        try:
            # Without a date, so that the same analysis gives the same file.
            about = {"Date": None} if file.suffix.lower() == ".svg" else None
            with _one_warning_of_fonts():
                figure.savefig(file, dpi=_DOTS_PER_INCH, metadata=about)
        except OSError as error:
            raise StoreError(
                f"{file} cannot be written: {error.strerror}.", hint="Choose another file."
            ) from error


@contextmanager
def _one_warning_of_fonts() -> Iterator[None]:
    """Matplotlib warns of each letter that its fonts lack: one sentence says it, with what to
    do."""
    with warnings.catch_warnings(record=True) as told:
        yield
    lacking = [one for one in told if _LACKS in str(one.message)]
    for one in told:
        if one not in lacking:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if lacking:
        warnings.warn(
            "No font here has some of the letters in this picture, which are boxes in it. "
            "Install one that has them, such as Noto Sans CJK.",
            stacklevel=4,
        )


def _bars(axes: Any, chart: Chart) -> None:
    rows = range(len(chart.labels))
    left = [0.0] * len(chart.labels)
    for name, values in chart.series.items():
        axes.barh(rows, values, left=left, label=name)
        left = [before + value for before, value in zip(left, values, strict=True)]
    axes.set_yticks(rows, [_short(label) for label in chart.labels], fontsize="small")
    axes.set_xlim(left=0)
    # The first on top, and a single bar no higher than one of several.
    axes.set_ylim(max(_FEWEST_BARS, len(chart.labels)) - 0.5, -0.5)
    if len(chart.series) > 1:
        axes.legend(**_BESIDE)


def _lines(axes: Any, chart: Chart) -> None:
    for name, values in chart.series.items():
        axes.plot(chart.x, values, label=name, marker="o" if len(values) < 40 else None)
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", labelrotation=30)
    if len(chart.series) > 1:
        axes.legend()


def _points(axes: Any, chart: Chart) -> None:
    groups = chart.colours
    size = max(0.3, min(12.0, 20_000 / max(1, len(chart.x))))
    drawn = axes.scatter(
        chart.x,
        chart.series["y"],
        s=size,
        c=groups,
        cmap="tab20",
        linewidths=0,
        rasterized=len(chart.x) >= _RASTERISED_FROM,
    )
    axes.set_aspect("equal")
    axes.set_axis_off()
    if chart.colour_names:
        handles, _ = drawn.legend_elements(num=list(range(len(chart.colour_names))))
        names = [_short(name) for name in chart.colour_names]
        axes.legend(handles, names, **_BESIDE)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_CHARS else "…" + line[1 - _LABEL_CHARS :]
