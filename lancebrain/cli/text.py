"""Text from files as it may stand on a terminal."""

from __future__ import annotations

import re

# Escape sequences in a note could recolour, retitle or fake the terminal; the marks that turn
# the direction of writing could make one path look like another.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text without what a terminal would obey; line ends and tabs stay."""
    return _UNSAFE.sub("�", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text in a single line, its white space squeezed."""
    return printable(" ".join(text.split()))


def path_line(path: str) -> str:
    """A path in a single line, its spaces as they are, so that it can be copied."""
    return printable(path.replace("\r", "\0").replace("\n", "\0"))


def plural(count: int, one: str, many: str = "") -> str:
    """``1 note``, ``2 notes``, ``10,000 notes``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def human_bytes(count: int) -> str:
    """``512 bytes``, ``1.5 MB``."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
