"""Query strings → what the facade takes, within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from lancebrain.errors import UsageError
from lancebrain.moments import moment
from lancebrain.types import Filter, Mode, Query

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

_MOST_CHARS = 1_000
_MOST_HITS = 200
_MOST_OFFSET = 10_000
_MOST_NUMBER = 2**31


def query_of(asked: QueryParams) -> Query:
    """A question with its mode, page and filter.

    Raises:
        UsageError: a value makes no sense.
    """
    mode = asked.get("mode", "hybrid")
    for known in get_args(Mode):
        if mode == known:
            return Query(
                text_of(asked, "q"),
                known,
                number_of(asked, "limit", 20, most=_MOST_HITS),
                number_of(asked, "offset", 0, most=_MOST_OFFSET),
                filter_of(asked),
            )
    raise UsageError(f"There is no mode {mode!r}.", hint=f"There are: {', '.join(get_args(Mode))}.")


def filter_of(asked: QueryParams) -> Filter:
    """What a search is narrowed to.

    Raises:
        UsageError: a time cannot be understood.
    """
    since, until = optional(asked, "since"), optional(asked, "until")
    return Filter(
        sources=_several(asked, "source"),
        domains=_several(asked, "domain"),
        kinds=_several(asked, "kind"),
        roles=_several(asked, "role"),
        tags=tuple(tag.removeprefix("#") for tag in _several(asked, "tag")),
        path=optional(asked, "path"),
        since=moment(since) if since else None,
        until=moment(until, end=True) if until else None,
        projects=_several(asked, "project"),
    )


def text_of(asked: QueryParams, name: str) -> str:
    """A text that has to be there.

    Raises:
        UsageError: it is not, or too long.
    """
    text = optional(asked, name)
    if text is None:
        raise UsageError(f"{name!r} is missing.")
    return text


def optional(asked: QueryParams, name: str) -> str | None:
    """A text; None when it is not there or empty.

    Raises:
        UsageError: it is too long.
    """
    text = asked.get(name, "")
    if len(text) > _MOST_CHARS:
        raise UsageError(f"{name!r} is longer than {_MOST_CHARS} characters.")
    return text or None


def number_of(
    asked: QueryParams, name: str, default: int, *, least: int = 0, most: int = _MOST_NUMBER
) -> int:
    """A whole number within bounds.

    Raises:
        UsageError: it is none.
    """
    given = asked.get(name, "")
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 12):
        raise UsageError(f"{name!r} has to be a number.")
    return min(max(int(given), least), most)


def _several(asked: QueryParams, name: str) -> tuple[str, ...]:
    return tuple(value for value in asked.getlist(name) if value)
