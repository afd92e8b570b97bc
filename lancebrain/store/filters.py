"""``Filter`` → SQL: the only place where user values become part of an expression.

The expressions run in DataFusion inside Lance. String literals double the quote and need
nothing else; a backslash is an ordinary character in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from lancebrain.errors import UsageError
from lancebrain.types import Filter

_SURROGATE = re.compile("[\ud800-\udfff]")


def literal(text: str) -> str:
    """A string as a SQL literal."""
    # No row can hold a lone surrogate, nor what stands for it here, which means nothing in a
    # regular expression either.
    return "'" + _SURROGATE.sub("\uffff", text).replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """``column`` equals one of the strings."""
    return f"{column} IN ({', '.join(literal(v) for v in values)})"


def sql_of(wanted: Filter) -> str:
    """The filter as one SQL expression, or ``""`` when it lets everything pass."""
    terms: list[str] = []
    for column, values in (
        ("source", wanted.sources),
        ("domain", wanted.domains),
        ("kind", wanted.kinds),
        ("role", wanted.roles),
    ):
        if values:
            terms.append(one_of(column, values))
    if wanted.exclude_domains:
        terms.append(f"NOT {one_of('domain', wanted.exclude_domains)}")
    if wanted.tags:
        terms.append(f"array_has_any(tags, [{', '.join(literal(t) for t in wanted.tags)}])")
    if wanted.path:
        terms.append(_path_sql(wanted.path))
    if wanted.since is not None:
        terms.append(f"{_SAID_OR_CHANGED} >= {_timestamp(wanted.since)}")
    if wanted.until is not None:
        terms.append(f"{_SAID_OR_CHANGED} <= {_timestamp(wanted.until)}")
    return " AND ".join(terms)


def all_of(*expressions: str) -> str:
    """The expressions, the empty ones left out, joined by AND."""
    return " AND ".join(f"({e})" for e in expressions if e)


def under(prefix: str) -> str:
    """``path`` starts with ``prefix``, as a range, which the BTREE on ``path`` serves."""
    terms = [f"path >= {literal(prefix)}"]
    after = successor(prefix)
    if after:
        terms.append(f"path < {literal(after)}")
    return " AND ".join(terms)


def keys_sql(keys: Sequence[tuple[str, int]]) -> str:
    """The rows with one of these keys, and maybe others of the same documents.

    Two lists, not a chain of pairs: a chain of 200 takes ten times as long.
    """
    paths = dict.fromkeys(path for path, _ in keys)
    indexes = dict.fromkeys(index for _, index in keys)
    return f"{one_of('path', paths)} AND chunk_index IN ({', '.join(map(str, indexes))})"


_GLOB = re.compile(r"[*?\[]")
_GLOB_CHARS = 4_096  # as long as a path may be; a longer pattern is too large for Lance
_SPECIAL = re.compile(r"[\[\]\\^&~|-]")  # within a set
_ESCAPED = r"\\\g<0>"
_SAID_OR_CHANGED = "coalesce(said_at, updated_at)"


def _timestamp(at: datetime) -> str:
    return f"timestamp '{at.astimezone(UTC).isoformat(timespec='microseconds')}'"


def _path_sql(path: str) -> str:
    """A document, everything under a folder, or a glob; a name that holds ``*`` matches itself."""
    exact = f"path = {literal(path)}"
    if path.endswith("/"):
        return f"({under(path)})"
    head = _GLOB.split(path, maxsplit=1)[0]
    if head == path:
        return f"({exact} OR ({under(path + '/')}))"
    pattern = literal(glob_to_regex(path))
    return f"({exact} OR ({under(head)} AND regexp_like(path, {pattern})))"


def project_matcher(projects: Iterable[str]) -> Callable[[object], bool]:
    """Tells of a session's working folder whether it is of one of the projects.

    See :attr:`lancebrain.types.Filter.projects`; backslashes are slashes, so that logs of
    Windows are no exception.
    """
    # The metadata has its white space squeezed.
    folders = [" ".join(project.replace("\\", "/").split()) for project in projects]

    def tells(value: object) -> bool:
        if not isinstance(value, str):
            return False
        whole = "/" + value.replace("\\", "/").strip("/") + "/"
        return any(
            whole.startswith(f"/{folder.strip('/')}/".replace("//", "/"))
            if "/" in folder
            else f"/{folder}/" in whole
            for folder in folders
        )

    return tells


def path_matcher(path: str) -> Callable[[str], bool]:
    """Tells of document paths whether a ``Filter`` with this ``path`` lets them pass."""
    if path.endswith("/"):
        return lambda other: other.startswith(path)
    if not _GLOB.search(path):
        return lambda other: other == path or other.startswith(f"{path}/")
    matches = re.compile(glob_to_regex(path)).match
    return lambda other: other == path or matches(other) is not None


def glob_to_regex(glob: str) -> str:
    """``*`` and ``?`` stay within a folder, ``**`` does not; ``[a-z]`` and ``[!a]`` are sets.

    Raises:
        UsageError: it is none, or longer than any path.
    """
    if len(glob) > _GLOB_CHARS:
        raise UsageError(f"A path of {len(glob)} characters is none; {_GLOB_CHARS} are the most.")
    out: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif glob.startswith("**", at):
            out.append(".*")
            at += 2
        elif glob[at] == "*":
            out.append("[^/]*")
            at += 1
        elif glob[at] == "?":
            out.append("[^/]")
            at += 1
        elif glob[at] == "[" and (end := glob.find("]", at + 2)) > 0:
            inside = glob[at + 1 : end]
            negated = inside.startswith("!")
            out.append(f"[{'^/' if negated else ''}{_members(inside[negated:], glob)}]")
            at = end + 1
        else:
            out.append(re.escape(glob[at]))
            at += 1
    return f"(?s)^{''.join(out)}$"


def _members(inside: str, glob: str) -> str:
    """What a set holds, as a regular expression has it."""
    out: list[str] = []
    at = 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            low, high = inside[at], inside[at + 2]
            if low > high:
                raise UsageError(
                    f"{glob!r} is no pattern: {low} to {high} is empty.",
                    hint="Write the lesser character first, as in [a-z].",
                )
            out.append(f"{_SPECIAL.sub(_ESCAPED, low)}-{_SPECIAL.sub(_ESCAPED, high)}")
            at += 3
        else:
            out.append(_SPECIAL.sub(_ESCAPED, inside[at]))
            at += 1
    return "".join(out)


def successor(prefix: str) -> str:
    """The least string greater than every string that starts with ``prefix``; "" if none."""
    for at in range(len(prefix) - 1, -1, -1):
        following = ord(prefix[at]) + 1
        if 0xD800 <= following <= 0xDFFF:
            following = 0xE000
        if following <= 0x10FFFF:
            return prefix[:at] + chr(following)
    return ""
