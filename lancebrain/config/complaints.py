"""Wrong configuration told so that a person can mend it: where, which key, what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from lancebrain.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import ValidationError


def reject_unknown(keys: Iterable[str], allowed: Iterable[str], origin: str) -> None:
    """Raise :class:`ConfigError` for the first key that is not allowed.

    Args:
        origin: where the keys stand: a file, or a file and an entry.
    """
    known = list(allowed)
    for key in keys:
        if key not in known:
            raise ConfigError(f"{origin}: unknown key {key!r}.", hint=nearest_hint(key, known))


def nearest_hint(word: str, allowed: Iterable[str]) -> str:
    """``Did you mean …?``, or all that is allowed when nothing is near."""
    import difflib

    known = list(allowed)
    # Compared without case; shown in the spelling that is valid.
    spelling = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), spelling, n=1)
    if near:
        return f"Did you mean {spelling[near[0]]!r}?"
    return f"Known are: {', '.join(known)}."


def complaint(error: ValidationError, origins: Mapping[str, str] | str) -> ConfigError:
    """The first fault that pydantic found, in a sentence of our own.

    Args:
        origins: where each top-level key stands, or one place for all.
    """
    fault = error.errors(include_url=False, include_context=False)[0]
    place = [part for part in fault["loc"] if isinstance(part, int | str)]
    key = str(place[0]) if place else ""
    origin = origins if isinstance(origins, str) else origins.get(key, "")
    if fault["type"] == "missing":
        return ConfigError(f"{origin}: {key} is missing.")
    shown = key + "".join(f"[{part}]" for part in place[1:] if isinstance(part, int))
    allowed = fault["msg"].removeprefix("Value error, ")
    allowed = allowed.replace("Input should be", "must be").replace("Input should", "must")
    allowed = allowed[:1].lower() + allowed[1:]
    return ConfigError(f"{origin}: {shown} = {fault['input']!r}: {allowed}.")
