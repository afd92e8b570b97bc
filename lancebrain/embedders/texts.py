"""Texts made fit for a model that is particular about them. Pure; used by the engines."""

from __future__ import annotations

import re

_UNSPEAKABLE = re.compile("[\x00\ud800-\udfff]")


def speakable(text: str) -> str:
    """The text with U+FFFD for NUL, where C ends a text, and for lone surrogates, which UTF-8 does
    not have."""
    return _UNSPEAKABLE.sub("\ufffd", text)


def windows(text: str, max_chars: int) -> list[str]:
    """Cut a text into pieces of at most ``max_chars`` that joined are the text.

    A cut is at the last white space of the window's second half, if there is one.
    """
    pieces = []
    start = 0
    while len(text) - start > max_chars:
        end = start + max_chars
        space = max(text.rfind(white, start + max_chars // 2, end) for white in " \n\t")
        if space >= 0:
            end = space + 1
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces
