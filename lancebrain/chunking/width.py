"""How wide a text is: the one measure of size in chunking.

A wide character (East Asian, emoji) counts two and any other code point one, so that a chunk of
Chinese and one of English hold about as much for a model. Marks and controls count one as
well, though a terminal shows them in none: a model reads them, and no text may be endless and
of no width. The width is never less than that of ``wcwidth``.
"""

from __future__ import annotations

import re

# Whole blocks, written down here: another version of a library's table would move the
# boundaries of chunks that nobody edited.
_WIDE = re.compile(
    "[\u1100-\u115f\u231a\u231b\u2329\u232a\u23e9-\u23f3\u2600-\u27bf\u2b1b-\u2b55\u2e80-\u303e"
    "\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60"
    "\uffe0-\uffe6\U00016fe0-\U00019fff\U0001aff0-\U0001b2ff\U0001d300-\U0001d376"
    "\U0001f004-\U0001faff\U00020000-\U0003fffd\u25fd\u25fe\u4dc0-\u4dff]+"
)


def display_width(text: str) -> int:
    """The width of a text in columns; at least 1 for each code point."""
    if text.isascii():
        return len(text)
    return len(text) + sum(map(len, _WIDE.findall(text)))


def cut_to_width(text: str, width: int) -> str:
    """The longest start of ``text``, about, that is no wider than ``width``."""
    cut = text[:width]
    while (excess := display_width(cut) - width) > 0:
        cut = cut[: -max(1, excess // 2)]
    return cut
