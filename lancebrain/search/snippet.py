"""Chunk text → the part around the match, safe to print. Pure.

Text from files is not trusted: terminal escapes, control characters, marks that turn the
direction of reading around, and invisible characters never reach a screen or another program's
prompt. Nothing visible is changed but white space.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import regex

from lancebrain.chunking import display_width
from lancebrain.search.terms import fold

WIDTH = 240
"""Of a snippet in columns, by ``chunking.display_width``."""

_BEFORE = 0.25  # share of the room that goes to what leads up to the match
_MOST_MATCHES = 200
_WORD_CHARS = 24  # a longer word may be cut
_LONGEST_GRAPHEME = 64
_ESCAPE = regex.compile(
    r"""\x1b (?: \[[0-?]*[ -/]*[@-~]                     # CSI: colours, cursor
              | [\]PX^_] .*? (?: \x07 | \x1b\\ | \x9c | $)  # OSC, DCS and other strings
              | [ -/]*[0-~] )?
        | \x9b [0-?]*[ -/]*[@-~]""",
    regex.VERBOSE | regex.DOTALL,
)
_INVISIBLE = regex.compile(
    "[^\\P{C}\u200c\u200d\\s]"  # controls, formats, surrogates, unassigned, private use
    "|[\u115f\u1160\u3164\uffa0\u2800\U000e0100-\U000e01ef]"  # blank letters, ideograph variants
)
_JOINER = regex.compile("(?<![\\p{L}\\p{M}\\p{Emoji}\ufe0f])[\u200c\u200d]+|[\u200c\u200d]{2,}")
_PILED_UP = regex.compile(r"(\p{M}{8})\p{M}+")
_ENCODED_CHARS = 100  # a longer run is data, not a word
_ENCODED = regex.compile(r"([A-Za-z0-9+/=_-]{12})[A-Za-z0-9+/=_-]{88,}+")
_FRONTMATTER = regex.compile(
    r"\A\s*(---|\+\+\+)[ \t]*\r?\n.*?^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    regex.DOTALL | regex.MULTILINE,
)
_GRAPHEME = regex.compile(r"\X")
_width_of = lru_cache(maxsize=8_192)(display_width)
"""Of a character."""


def snippet(text: str, wanted: Sequence[str], *, width: int = WIDTH) -> str:
    """The stretch of a chunk that holds most of what was asked for, on one line.

    Args:
        text: of the chunk.
        wanted: folded terms and phrases, the longer of more weight; may be empty, then the
            stretch is the chunk's beginning.
        width: of the result in columns, at most, with the ellipses.
    """
    clean = safe_line(without_frontmatter(text))
    columns = _columns_before(clean)
    if columns[-1] <= width:
        return clean
    room = width - 2  # an ellipsis at either end
    first, last = _best_span(clean, wanted, columns, room)
    start = _start_before(clean, columns, first, last, room)
    end = _floor(clean, bisect_right(columns, columns[start] + room) - 1)
    if end < len(clean):
        end = _word_end(clean, max(last, start + 1), end)
    head = "…" if start > 0 else ""
    tail = "…" if end < len(clean) else ""
    return f"{head}{clean[start:end].strip()}{tail}"


def safe_line(text: str) -> str:
    """One line without anything that acts on a terminal or cannot be seen."""
    plain = _INVISIBLE.sub("", _ESCAPE.sub("", text))
    if not plain.isascii():
        plain = _PILED_UP.sub(r"\1", _JOINER.sub("", plain))
    return " ".join(
        # Base64 of a picture would fill the line and tell nothing.
        word if len(word) < _ENCODED_CHARS else _ENCODED.sub(r"\1…", word)
        for word in plain.split()
    )


def without_frontmatter(text: str) -> str:
    """The text after a leading frontmatter, if there is any."""
    rest = _FRONTMATTER.sub("", text, count=1)
    return rest if rest.strip() else text


def _best_span(
    clean: str, wanted: Sequence[str], columns: Sequence[int], room: int
) -> tuple[int, int]:
    """Start and end of the stretch of at most ``room`` columns with the most that is wanted."""
    matches = _matches(clean, wanted)
    first = _best_start(matches, columns, room)
    if first is None:
        return 0, 0
    start = end = matches[first][0]
    held: set[str] = set()
    for _, finish, term in matches[first:]:
        if columns[finish] - columns[start] <= room and term not in held:
            held.add(term)
            end = max(end, finish)
    return start, end


def _best_start(
    matches: Sequence[tuple[int, int, str]], columns: Sequence[int], room: int
) -> int | None:
    """Of which match on the most is held by the room after it; None where none has room.

    Each match enters the stretch and leaves it once: of a long question a chunk has hundreds.
    """
    to_enter = deque(sorted(range(len(matches)), key=lambda at: matches[at][1]))
    times: Counter[str] = Counter()
    best, first, weight = 0, None, 0
    for at, (start, end, term) in enumerate(matches):
        while to_enter and columns[matches[to_enter[0]][1]] - columns[start] <= room:
            entering = to_enter.popleft()
            if entering >= at:
                entered = matches[entering][2]
                weight += 0 if times[entered] else len(entered)
                times[entered] += 1
        if weight > best:
            best, first = weight, at
        if columns[end] - columns[start] <= room:
            times[term] -= 1
            weight -= 0 if times[term] else len(term)
    return first


def _matches(clean: str, wanted: Sequence[str]) -> list[tuple[int, int, str]]:
    folded = fold(clean)
    origin = _origins(clean, folded)
    found: list[tuple[int, int, str]] = []
    # The longest first: a short one may be there hundreds of times, and leave room for no other.
    for term in sorted(dict.fromkeys(wanted), key=len, reverse=True):
        at = folded.find(term) if term else -1
        while at >= 0 and len(found) < _MOST_MATCHES:
            found.append((origin[at], origin[at + len(term) - 1] + 1, term))
            at = folded.find(term, at + len(term))
    return sorted(found)


def _origins(clean: str, folded: str) -> Sequence[int]:
    """For each character of the folded text, where it comes from."""
    if len(clean) == len(folded):
        return range(len(clean))
    # Folding may join characters (a letter and its mark), which folding one by one does not:
    # then what is beyond is a few characters off, and the stretch is as useful.
    origin = [at for at, char in enumerate(clean) for _ in fold(char)]
    origin.extend([len(clean) - 1] * (len(folded) - len(origin)))
    return origin


def _start_before(clean: str, columns: Sequence[int], first: int, last: int, room: int) -> int:
    """Where to begin so that the span has some text before it, and the room is used."""
    spare = room - (columns[last] - columns[first])
    wanted_column = min(columns[first] - int(spare * _BEFORE), columns[-1] - room)
    if wanted_column <= 0:
        return 0
    start = bisect_left(columns, wanted_column)
    space = clean.find(" ", start - 1, min(first, start + _WORD_CHARS))
    return _floor(clean, start) if space < 0 else space + 1


def _word_end(clean: str, at_least: int, end: int) -> int:
    if clean[end] == " ":
        return end
    space = clean.rfind(" ", max(at_least, end - _WORD_CHARS), end)
    return end if space < 0 else space


def _floor(clean: str, at: int) -> int:
    """The last boundary between graphemes at or before a position."""
    if at >= len(clean):
        return len(clean)
    start = max(clean.rfind(" ", 0, at), at - _LONGEST_GRAPHEME, 0)
    boundary = start
    for match in _GRAPHEME.finditer(clean, start):
        if match.end() > at:
            return match.start()
        boundary = match.end()
    return boundary


def _columns_before(clean: str) -> Sequence[int]:
    """The width of the text before each character, and of all of it."""
    if clean.isascii():
        return range(len(clean) + 1)
    return [0, *accumulate(map(_width_of, clean))]
