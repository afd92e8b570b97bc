"""File names as text: what the operating system allows in a name, written in valid Unicode.

On POSIX a name is bytes, and not every name is UTF-8. ``os.fsdecode`` keeps such bytes as lone
surrogates, which no JSON, Arrow or TOML writer accepts. Here each of them becomes U+FFFD and two
hex digits (``caf<E9>.md`` is ``caf�e9.md``), so that a person sees that something is odd and the
name can be turned back exactly. Every other name stays as it is.
"""

from __future__ import annotations

import os
import re

# A surrogate that stands for a byte; or a real U+FFFD that would read as an escape afterwards.
_TO_ESCAPE = re.compile("[\udc80-\udcff]|\ufffd(?=[89a-f][0-9a-f])")
_ESCAPE = re.compile("\ufffd([89a-f][0-9a-f])")


def to_text(name: str) -> str:
    """A file name or path as valid Unicode.

    Args:
        name: as ``os.fsdecode`` gives it.
    """
    if name.isascii():
        return name
    return _TO_ESCAPE.sub(_escape, os.fsencode(name).decode("utf-8", "surrogateescape"))


def from_text(text: str) -> str:
    """The file name that :func:`to_text` turned into ``text``, as ``os.fsdecode`` gives it."""
    if "\ufffd" not in text:
        return text
    unescaped = _ESCAPE.sub(lambda match: chr(0xDC00 + int(match[1], 16)), text)
    return os.fsdecode(unescaped.encode("utf-8", "surrogateescape"))


def _escape(match: re.Match[str]) -> str:
    raw = match[0].encode("utf-8", "surrogateescape")
    return "".join(f"\ufffd{byte:02x}" for byte in raw)
