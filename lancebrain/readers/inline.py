"""Tags, links and plain titles inside Markdown blocks; asked by the Markdown reader.

A full inline parse would cost more than all the rest of an index run without the model, and
says nothing that these patterns do not. Every pattern is linear: it starts at a literal and is
bounded in length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MOST_TITLE_CHARS = 200
_BEFORE_TAG = r"(?<![^\s，。、；：！？（「『【《])"
_TAG = regex.compile(rf"{_BEFORE_TAG}#([\w/-]{{1,100}})(?![\w/-])")
_NOT_IN_NUMBERS = re.compile(r"[^\d/_-]")
_HTML_TAG = re.compile(r"<[a-zA-Z/!][^<>]{0,500}>")
_BACKTICKS = re.compile(r"`+")

_WIKILINK = re.compile(r"\[\[([^\[\]|\n]{1,300})(?:\|[^\[\]\n]{0,300})?\]\]")
_TARGET = r"<[^<>\n]{1,2000}>|[^\s()<>]{1,2000}(?:\([^\s()]{0,500}\)[^\s()]{0,500}){0,5}"
_INLINE_LINK = re.compile(rf"\]\([ \t]{{0,10}}({_TARGET})")
_DEFINITION = re.compile(
    rf"^ {{0,3}}\[[^\]^\n][^\]\n]{{0,500}}\]:[ \t]{{0,10}}({_TARGET})", re.MULTILINE
)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>]{1,2000})>")
_LINKS = (_WIKILINK, _INLINE_LINK, _DEFINITION, _AUTOLINK)

_MARKUP = re.compile(r"[\\`*_\[\]<&~{]")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_WIKILINK_TEXT = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_FORMATTING_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|del|em|font|i|img|ins|kbd|mark|s|small|span|strong|sub|sup|u)\b[^>]*>",
    re.IGNORECASE,
)


class CodeMap:
    """Where in a text code stands: fences, indented code, and code spans found on demand.

    Args:
        text: the document's text.
        code: (start, end) offsets of fences and indented code.
        bounds: offsets where blocks start, ascending; no code span goes beyond one.
    """

    def __init__(self, text: str, code: Sequence[tuple[int, int]], bounds: Sequence[int]) -> None:
        self._text = text
        self._code = sorted(code)
        self._code_starts = [start for start, _ in self._code]
        self._bounds = bounds
        self._spans: dict[int, list[tuple[int, int]]] = {}

    def __contains__(self, offset: int) -> bool:
        nearest = bisect_right(self._code_starts, offset) - 1
        if nearest >= 0 and offset < self._code[nearest][1]:
            return True
        block = bisect_right(self._bounds, offset) - 1
        if block not in self._spans:
            start = self._bounds[block]
            end = self._bounds[block + 1] if block + 1 < len(self._bounds) else len(self._text)
            self._spans[block] = list(_code_spans(self._text, start, end))
        return any(start <= offset < end for start, end in self._spans[block])


def _code_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of backticks pair with the next run of the same length.

    https://spec.commonmark.org/0.31.2/#code-spans
    """
    runs = [(run.start(), run.end()) for run in _BACKTICKS.finditer(text, start, end)]
    later: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[index][1] - runs[index][0], []).append(index)
    index = 0
    while index < len(runs):
        begin, stop = runs[index]
        same = later[stop - begin]
        while same and same[-1] <= index:
            same.pop()
        index = same.pop() if same else index
        if runs[index][0] != begin:
            yield begin, runs[index][1]
        index += 1


def tags_in(text: str, start: int, end: int, code: CodeMap) -> tuple[str, ...]:
    """The tags of a block, each once, without ``#``: ``#tag``, ``#タグ``, ``#nested/tag``.

    A tag follows white space or CJK punctuation and holds more than digits.
    """
    if text.find("#", start, end) < 0:
        return ()
    html: list[tuple[int, int]] | None = None
    tags: dict[str, None] = {}
    for match in _TAG.finditer(text, start, end):
        tag = match.group(1).strip("/-")
        if not _NOT_IN_NUMBERS.search(tag) or match.start() in code:
            continue
        if html is None:
            html = [tag.span() for tag in _HTML_TAG.finditer(text, start, end)]
        if not any(first <= match.start() < last for first, last in html):
            tags[tag] = None
    return tuple(tags)


def links_in(text: str, code: CodeMap) -> tuple[str, ...]:
    """Targets of wikilinks, links, images and link definitions, as written, each once."""
    found = [
        (match.start(1), match.group(1).strip("<>").strip())
        for pattern in _LINKS
        for match in pattern.finditer(text)
        if match.start() not in code
    ]
    return tuple(
        dict.fromkeys(target for _, target in sorted(found) if target and target[:5] != "data:")
    )


def plain_title(source: str) -> str:
    """A heading's words, without inline markup; at most 200 characters."""
    title = source
    if _MARKUP.search(source):
        title = _ATTRIBUTES.sub("", title)
        if len(title) <= 5 * _MOST_TITLE_CHARS:
            title = _without_markup(title)
    title = " ".join(title.split())
    return title if len(title) <= _MOST_TITLE_CHARS else title[: _MOST_TITLE_CHARS - 1] + "…"


def _without_markup(source: str) -> str:
    tokens = _inline_parser().parseInline(_WIKILINK_TEXT.sub(r"\1", source))
    words = []
    for token in tokens[0].children or ():
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type == "html_inline":
            # `Vec<T>` is raw HTML to Markdown and a word to its author.
            words.append(_FORMATTING_TAG.sub("", token.content))
        else:
            words.append(token.content)
    return "".join(words)


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("strikethrough")
    # Targets are as they were written: to decode `%ED%A0%BD` would make half a character.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser
