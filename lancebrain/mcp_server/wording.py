"""What is wrong with the arguments of a call, in one sentence that says what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from lancebrain.mcp_server.arguments import HASH, NOT_BLANK, TAG
from lancebrain.mcp_server.quoting import label

_SHOWN_CHARS = 60
_ALIKE = 0.75
_OF_PATTERN = {
    HASH: "a sha256 as get_detail gives it, 64 hexadecimal digits",
    TAG: "one word without spaces, commas, # and brackets",
    NOT_BLANK: "text that is not blank",
}

Schema = Mapping[str, Any]


def unknown(tool: str, schema: Schema, arguments: Mapping[str, Any]) -> str | None:
    """The complaint about an argument that a tool does not have; None when it has them all."""
    known: Mapping[str, Schema] = schema.get("properties", {})
    for name in arguments:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, _ALIKE)
            hint = f"Did you mean {near[0]}? " if near else ""
            takes = f"It takes: {', '.join(known)}." if known else "It takes none."
            return f"{tool} has no argument {label(name, most_chars=_SHOWN_CHARS)!r}. {hint}{takes}"
    return None


def complaint(tool: str, schema: Schema, error: ValidationError) -> str:
    """The complaint about the first argument that is not as its schema wants it.

    Args:
        schema: of the tool's arguments.
        error: what the check of the arguments raised.
    """
    first = error.errors(include_url=False)[0]
    name, *inner = first["loc"]
    about = _not_null(schema.get("properties", {}).get(name, {}))
    if first["type"] == "missing":
        return f"{tool} needs {name}: {_expected(about)}. Call it again with that."
    place = str(name)
    if inner and isinstance(inner[0], int) and "items" in about:
        place, about = f"{name}[{inner[0]}]", about["items"]
    return (
        f"{place} has to be {_expected(about)}; {_shown(first['input'])} is not. "
        f"Call {tool} again with that corrected."
    )


def _not_null(about: Schema) -> Schema:
    kinds = about.get("anyOf", [about])
    return next((kind for kind in kinds if kind.get("type") != "null"), about)


def _expected(about: Schema) -> str:
    kind = about.get("type")
    if "enum" in about:
        return f"one of {', '.join(map(str, about['enum']))}"
    if kind == "integer":
        return f"a whole number from {about['minimum']} to {about['maximum']}"
    if kind == "boolean":
        return "true or false"
    if kind == "array":
        return f"a list of {about['maxItems']} items at most, each {_expected(about['items'])}"
    most = f"{about['maxLength']:,}" if "maxLength" in about else ""
    if about.get("pattern") in _OF_PATTERN:
        words = _OF_PATTERN[about["pattern"]]
        return f"{words}, of {most} characters at most" if most else words
    return f"text of {about.get('minLength', 0)} to {most} characters"


def _shown(value: object) -> str:
    if isinstance(value, str) and len(value) > _SHOWN_CHARS:
        return f"text of {len(value):,} characters that begins with {value[:20]!r}"
    if isinstance(value, list):
        return f"a list of {len(value)} items"
    if isinstance(value, dict):
        return "an object"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return label(repr(value), most_chars=_SHOWN_CHARS)
