"""Results as JSON: the keys are the fields of the dataclasses that the tables show."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from datetime import date
from pathlib import Path


def to_json(value: object, *, indent: int | None = None) -> str:
    """One JSON document.

    Times are ISO 8601 with their offset, days without. Text is not escaped beyond what JSON asks
    for, so Japanese stays readable; NaN does not occur.

    Args:
        value: a dataclass, or a mapping or sequence of them.
        indent: spaces a level; None for a single line.
    """
    return json.dumps(value, default=_plain, ensure_ascii=False, indent=indent, allow_nan=False)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
