"""Growth: how many notes there were when, by the date that a note has."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa

from lancebrain.analysis.documents import read_documents
from lancebrain.analysis.result import Analysis, Chart
from lancebrain.errors import UsageError
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

Period = Literal["day", "week", "month", "year"]

_KEYS = ("date", "created", "created_at", "date_created", "published", "started_at")
_DATE = re.compile(r"(?<!\d)(\d{4})([-/.]?)(\d{2})\2(\d{2})(?!\d)")
_DAYS: dict[Period, int] = {"day": 1, "week": 7, "month": 30}
_MOST_PERIODS = 60
_COLUMNS = ("path", "chunks", "characters", "metadata", "modified_at")
_SUMS = ("notes", "chunks", "characters")
_SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        *((name, pa.int64()) for name in _SUMS),
        *((f"{name}_total", pa.int64()) for name in _SUMS),
    ]
)


def growth(snapshot: Snapshot, wanted: Filter, *, by: Period | None = None) -> Analysis:
    """Notes, chunks and characters by period, the latest first, and what they add up to.

    The date of a note is that of its frontmatter (``date``, ``created`` and the like), else one
    in its name, else that of the file's last change; of a session log, when it began.

    Args:
        by: None: the shortest of which about sixty cover all.

    Raises:
        UsageError: there is no such period.
    """
    if by is not None and by not in get_args(Period):
        raise UsageError(
            f"There is no period {by!r}.", hint=f"Choose one of {', '.join(get_args(Period))}."
        )
    documents = read_documents(snapshot, wanted, _COLUMNS).to_pylist()
    dated = [(*_date_of(row), row) for row in documents if row["chunks"]]
    period = by or _fitting({day for day, _, _ in dated})
    sums: dict[date, Counter[str]] = {}
    for day, _, row in dated:
        counts = sums.setdefault(_start(day, period), Counter())
        counts.update(notes=1, chunks=row["chunks"], characters=row["characters"])
    rows = list(_accumulated(sums))
    told = Counter(how for _, how, _ in dated)
    return Analysis(
        name="growth",
        title=f"Growth by {period}",
        version=snapshot.version,
        summary=(
            f"Notes: {len(dated):,}; dated by their frontmatter: {told['frontmatter']:,}, by "
            f"their name: {told['name']:,}, by the file's last change: {told['file']:,}.",
        ),
        table=pa.Table.from_pylist(rows[::-1], schema=_SCHEMA),
        chart=Chart(
            "lines",
            "",
            "notes",
            {"notes": [row["notes_total"] for row in rows]},
            x=[row["period"] for row in rows],
        ),
    )


def _date_of(row: Mapping[str, Any]) -> tuple[date, str]:
    """A document's date, and what tells it."""
    metadata = json.loads(row["metadata"] or "{}")
    for key in _KEYS:
        if day := _date_in(str(metadata.get(key, ""))):
            return day, "frontmatter"
    if day := _date_in(row["path"].rpartition("/")[2]):
        return day, "name"
    return row["modified_at"].date(), "file"


def _date_in(text: str) -> date | None:
    for match in _DATE.finditer(text):
        try:
            return date(int(match[1]), int(match[3]), int(match[4]))
        except ValueError:
            continue  # digits that are no date
    return None


def _fitting(days: set[date]) -> Period:
    span = (max(days) - min(days)).days if days else 0
    for period, length in _DAYS.items():
        if span <= length * _MOST_PERIODS:
            return period
    return "year"


def _start(day: date, period: Period) -> date:
    if period == "week":
        return day - timedelta(days=day.weekday())
    if period == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if period == "year" else day


def _accumulated(sums: Mapping[date, Counter[str]]) -> Iterator[dict[str, Any]]:
    periods = sorted(sums)
    totals = accumulate((sums[period] for period in periods), lambda one, other: one + other)
    for period, total in zip(periods, totals, strict=True):
        row: dict[str, Any] = {"period": period}
        for name in _SUMS:
            row |= {name: sums[period][name], f"{name}_total": total[name]}
        yield row
