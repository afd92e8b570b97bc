"""Times for people: how long ago, then which day, then the date."""

from __future__ import annotations

from datetime import datetime, timedelta

_MINUTE, _HOUR = 60, 3600


def ago(at: datetime, *, now: datetime) -> str:
    """``12 s ago``, ``5 min ago``, ``3 h ago``, ``yesterday 14:02``, ``Mon 14:02``, or the date.

    Args:
        at, now: with a zone; days are those of the zone of ``now``.
    """
    at = at.astimezone(now.tzinfo)
    seconds = int((now - at).total_seconds())
    if seconds < 0 or now.date() - at.date() >= timedelta(days=6):
        return f"{at:%Y-%m-%d %H:%M}"
    if seconds < _MINUTE:
        return f"{seconds} s ago"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if at.date() == now.date():
        return f"{seconds // _HOUR} h ago"
    if now.date() - at.date() == timedelta(days=1):
        return f"yesterday {at:%H:%M}"
    return f"{at:%a %H:%M}"
