"""The metadata at the head of a Markdown file: YAML, TOML or JSON → JSON-compatible values.

Used by the Markdown reader, and by chunking to render what a model is given of it.

Formats: YAML between ``---`` lines (closed by ``...`` too), TOML between ``+++`` lines, a JSON
object that starts the file. A leading ``---`` is as often a rule or a letterhead: what does not
hold a mapping is no frontmatter, and only what clearly meant to be one is reported as broken.

YAML is read by the core schema of YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema), so
that ``2024-05-01``, ``yes`` and ``12:30`` stay the strings that were written.
"""

from __future__ import annotations

import base64
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

_MOST_CHARS = 65_536
_MOST_VALUES = 10_000
_MOST_DEPTH = 64
_MOST_ALIASES = 16  # more are a bomb: each may double what the ones before it hold

_LINE_END = r"(?:\r\n|\n|\r)"
_FENCED = re.compile(rf"(---|\+\+\+)[ \t]*(?={_LINE_END})")
_CLOSED = {
    "---": re.compile(rf"{_LINE_END}(?:---|\.\.\.)[ \t]*(?:{_LINE_END}|\Z)"),
    "+++": re.compile(rf"{_LINE_END}\+\+\+[ \t]*(?:{_LINE_END}|\Z)"),
}
_YAML_KEY_FIRST = re.compile(rf"{_LINE_END}[ \t]*[\"']?\w[\w .-]{{0,60}}[\"']?[ \t]*:(?=\s|\Z)")
_TOML_KEY_FIRST = re.compile(r"\s*(?:[\w.\"'-]+[ \t]*=|\[)")
_JSON_KEY_FIRST = re.compile(r"\{\s*\"[^\"\n]*\"\s*:")
_REST_OF_LINE = re.compile(rf"[ \t]*(?:{_LINE_END}|\Z)")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """Metadata found at the head of a text.

    Attributes:
        end: character offset at which the body begins.
        values: JSON-compatible; empty when broken.
        error: why it could not be read, as a part of a sentence; None when it could.
    """

    end: int
    values: Mapping[str, object]
    error: str | None = None


def find(text: str) -> Frontmatter | None:
    """The frontmatter of a Markdown text, or None when it has none. Never raises."""
    if text.startswith("{"):
        return _find_json(text[:_MOST_CHARS])
    opening = _FENCED.match(text)
    if opening is None:
        return None
    fence = opening.group(1)
    closing = _CLOSED[fence].search(text, opening.end(), opening.end() + _MOST_CHARS)
    if closing is None:
        return None
    inside = text[opening.end() : closing.start() + 1]
    load, meant = (_load_yaml, _YAML_KEY_FIRST) if fence == "---" else (_load_toml, _TOML_KEY_FIRST)
    values, error = _values(load, inside)
    if values is None and meant.match(inside) is None:
        return None
    return Frontmatter(closing.end(), values or {}, error)


def as_list(value: object) -> list[str]:
    """The words of a ``tags``-like value: a list, or text parted by commas, else by spaces."""
    if value is None or value is False:
        return []
    if isinstance(value, list):
        return [word for item in value for word in ([] if item is None else [str(item).strip()])]
    text = str(value)
    return [word.strip() for word in (text.split(",") if "," in text else text.split())]


def _find_json(head: str) -> Frontmatter | None:
    def load(text: str) -> object:
        value, end[0] = json.JSONDecoder().raw_decode(text)
        return value

    end = [0]
    values, error = _values(load, head)
    rest = _REST_OF_LINE.match(head, end[0])
    if values and rest:
        return Frontmatter(rest.end(), values)
    if error is not None and _JSON_KEY_FIRST.match(head):
        return Frontmatter(0, {}, error)
    return None


def _values(
    load: Callable[[str], object], text: str
) -> tuple[dict[str, object] | None, str | None]:
    """The mapping that ``load`` makes of ``text``, and else what was wrong."""
    import yaml

    try:
        value = load(text)
        if value is None:
            return {}, None
        if not isinstance(value, dict):
            return None, "is no mapping"
        return _Converter().mapping(value, depth=0), None
    except yaml.YAMLError as error:
        return None, f"is not valid YAML{_where(error)}"
    except tomllib.TOMLDecodeError as error:
        return None, f"is not valid TOML: {error}"
    except json.JSONDecodeError as error:
        return None, f"is not valid JSON: {error}"
    except _TooMuchError as error:
        return None, str(error)
    except RecursionError:
        return None, "is nested too deeply"
    except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
        # Explicit tags (`!!int x`) fail inside the library's constructors in their own ways.
        return None, f"holds a value that cannot be read: {error}"


def _where(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    line = "" if mark is None else f" (line {mark.line + 1})"
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    return f"{line}: {problem}" if problem else line


def _load_toml(text: str) -> object:
    return tomllib.loads(text.replace("\r\n", "\n").replace("\r", "\n"))


def _load_yaml(text: str) -> object:
    import yaml

    loader = _yaml_loader()
    if text.count("*") > _MOST_ALIASES:
        events: Iterable[object] = yaml.parse(text, Loader=loader)
        if sum(isinstance(event, yaml.AliasEvent) for event in events) > _MOST_ALIASES:
            raise _TooMuchError(f"has more than {_MOST_ALIASES} aliases")
    return yaml.load(text, Loader=loader)  # noqa: S506  (a safe loader, with fewer types)


@cache
def _yaml_loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class CoreLoader(base):  # type: ignore[misc]
        yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}

    for tag, pattern, first in (
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", r"[-+]?(?:0|[1-9][0-9]{0,17})", list("-+0123456789")),
        ("float", r"[-+]?(?:[0-9]+\.[0-9]+|[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]{1,2})", None),
        ("merge", r"<<", ["<"]),
    ):
        CoreLoader.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}",
            re.compile(rf"^(?:{pattern})$"),
            first or list("-+0123456789"),
        )
    return CoreLoader


class _TooMuchError(Exception):
    """The values unfold into more than a note has."""


class _Converter:
    """Values of any YAML or TOML type → JSON-compatible ones, within a budget."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def mapping(self, value: Mapping[object, object], depth: int) -> dict[str, object]:
        return {_text(str(key)): self._any(item, depth + 1) for key, item in value.items()}

    def _any(self, value: object, depth: int) -> object:
        self._left -= 1
        if self._left < 0 or depth > _MOST_DEPTH:
            raise _TooMuchError(
                f"unfolds to more than {_MOST_VALUES} values or {_MOST_DEPTH} levels"
            )
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, str):
            return _text(value)
        if isinstance(value, float):
            return value if value - value == 0 else str(value)
        if isinstance(value, bytes):
            return base64.b64encode(value).decode("ascii")
        if isinstance(value, dict):
            return self.mapping(value, depth)
        if isinstance(value, list | tuple):
            return [self._any(item, depth + 1) for item in value]
        if isinstance(value, set | frozenset):
            return sorted(str(self._any(item, depth + 1)) for item in value)
        return value.isoformat() if hasattr(value, "isoformat") else _text(str(value))


def _text(value: str) -> str:
    """Without what no store takes: NULs, and the lone surrogates that JSON can smuggle in."""
    return _SURROGATE.sub("\ufffd", value.replace("\0", ""))
