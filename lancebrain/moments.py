"""Times as people write them: ``2026-11-29``, ``2026-11-29T10:00``, ``yesterday``, ``7d``."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from lancebrain.errors import UsageError

_AGO = re.compile(r"(\d{1,6})\s*(m|h|d|w)(?:in|our|ay|eek)?s?(?:\s+ago)?", re.IGNORECASE)
_UNIT = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def moment(text: str, *, now: datetime | None = None, end: bool = False) -> datetime:
    """The time that is meant, UTC-aware; without a zone, the computer's own is meant.

    Args:
        text: an ISO 8601 date or time, ``today``, ``yesterday``, ``now``, or how long ago:
            ``30m``, ``12h``, ``7d``, ``2w``.
        now: UTC-aware; the present by default.
        end: a day means its last microsecond instead of its first.

    Raises:
        UsageError: it is none of these.
    """
    here = (now or datetime.now().astimezone()).astimezone()
    plain = text.strip().lower()
    if plain == "now":
        return here
    try:
        if ago := _AGO.fullmatch(plain):
            return here - int(ago[1]) * _UNIT[ago[2].lower()]
        day = _day(plain, here)
        if day is None:
            return datetime.fromisoformat(text.strip()).astimezone()
        return datetime.combine(day, time.max if end else time.min).astimezone()
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is no time.",
            hint="Write 2026-11-29, 2026-11-29T10:00, today, yesterday, or 7d for a week ago.",
        ) from None


def _day(plain: str, here: datetime) -> date | None:
    if plain == "today":
        return here.date()
    if plain == "yesterday":
        return here.date() - timedelta(days=1)
    return date.fromisoformat(plain) if len(plain) == len("2026-11-29") else None
