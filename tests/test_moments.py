"""Times as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.errors import UsageError
from lancebrain.moments import moment

NOW = datetime(2026, 11, 29, 15, 30, tzinfo=timezone(timedelta(hours=9)))


def test_a_day_begins_at_its_first_moment_and_ends_at_its_last() -> None:
    assert moment("2026-11-28") == datetime(2026, 11, 28).astimezone()
    last = moment("2026-11-28", end=True)
    assert last + timedelta(microseconds=1) == datetime(2026, 11, 29).astimezone()


def test_today_and_yesterday_are_days_where_the_computer_is() -> None:
    today = NOW.astimezone().date()
    assert moment("today", now=NOW) == datetime(today.year, today.month, today.day).astimezone()
    assert moment("Yesterday", now=NOW).date() == today - timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("7d", timedelta(days=7)),
        ("7 days ago", timedelta(days=7)),
        ("2w", timedelta(weeks=2)),
        ("now", timedelta()),
    ],
)
def test_how_long_ago_counts_from_now(text: str, ago: timedelta) -> None:
    assert moment(text, now=NOW) == NOW - ago
    assert moment(text, now=NOW, end=True) == NOW - ago


def test_a_time_keeps_its_zone_and_without_one_has_the_computers() -> None:
    assert moment("2026-11-29T10:00+09:00") == datetime(
        2026, 11, 29, 10, tzinfo=timezone(timedelta(hours=9))
    )
    assert moment("2026-11-29T10:00") == datetime(2026, 11, 29, 10).astimezone()


@pytest.mark.parametrize("text", ["", "soon", "7", "7y", "2026-13-01", "29.11.2026", "999999w"])
def test_anything_else_is_refused_with_what_may_be_written(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        moment(text)
    assert "yesterday" in caught.value.hint


@given(st.text(max_size=12))
def test_no_text_gives_another_error_or_a_time_without_zone(text: str) -> None:
    try:
        found = moment(text, now=NOW)
    except UsageError:
        return
    assert found.tzinfo is not None
