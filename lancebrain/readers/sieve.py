"""One JSON value of any length → the small part of it that a reader needs, in constant memory.

Session logs hold lines of many megabytes: a tool's output, an image, a file's content. Such a
line is passed through a sieve before it is parsed: every string whose path is not *spoken* and
every container that leads to no spoken path is dropped while its bytes stream by, so what is
held is the speech itself and the short values beside it (ids, times, kinds).

A path names object keys from the top, joined by dots; arrays are transparent: in
``{"message": {"content": [{"text": "hello"}]}}`` the speech is at ``message.content.text``.

The result is JSON with the same line ends at the same places, so a place in it still tells the
line of the file (raw line ends cannot stand inside JSON strings).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SHORT_BYTES = 1024
"""Strings up to this length stay beside the speech, wherever a container is looked into."""

_BETWEEN = re.compile(rb"[\s,:]++")
_LITERAL = re.compile(rb'[^\s,:{}\[\]"]++')


def _flat(levels: int) -> bytes:
    """A pattern for what can stand between brackets, and whole containers ``levels`` deep."""
    inner = rb"" if levels == 0 else rb"|[{\[]" + _flat(levels - 1) + rb"[}\]]"
    return rb'(?:[^"{}\[\]]++|"[^"]*+"' + inner + rb")*+"


_DROPPED = re.compile(_flat(3))


@dataclass(slots=True)
class _Container:
    path: str
    is_object: bool
    key: str | None = None


class Sieve:
    """Takes one JSON value in pieces, keeps what is spoken.

    Args:
        spoken: paths whose strings are kept at any length.
    """

    def __init__(self, spoken: frozenset[str]) -> None:
        self._spoken = spoken
        self._open_paths = {"", *(lead for path in spoken for lead in _leads(path))}
        self._stack: list[_Container] = []
        self._kept = bytearray()
        self._carry = b""
        self._string: bool | None = None  # inside a string that a piece ended in: is it kept?
        self._dropped_depth = 0

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the value."""
        data = self._carry + piece
        # Without its escapes, a quote is a quote: every search below is a plain one.
        plain = data.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        position = 0
        while position < len(data):
            after = self._step(data, plain, position)
            if after is None:
                break
            position = after
        self._carry = data[position:]

    def result(self) -> bytes:
        """What was kept, once every byte was fed; not JSON where the value was not."""
        return bytes(self._kept) + self._carry

    def _step(self, data: bytes, plain: bytes, position: int) -> int | None:
        """Take one token at ``position``; where it ends, or None if more bytes are needed."""
        if self._string is not None:
            return self._string_goes_on(data, plain, position)
        if self._dropped_depth:
            return self._drop(data, plain, position)
        if match := _BETWEEN.match(data, position):
            self._kept += match.group()
            return match.end()
        byte = data[position : position + 1]
        if byte == b'"':
            return self._take_string(data, plain, position)
        if byte in b"{[":
            self._open(byte)
            return position + 1
        if byte in b"}]":
            if self._stack:
                self._stack.pop()
            self._kept += byte
            self._value_ended()
            return position + 1
        match = _LITERAL.match(data, position)
        if match is None or match.end() == len(data):
            return None  # a number may go on in the next piece
        self._kept += match.group()
        self._value_ended()
        return match.end()

    def _take_string(self, data: bytes, plain: bytes, position: int) -> int | None:
        end = plain.find(b'"', position + 1) + 1
        if self._expects_key():
            if not end:
                return None
            self._stack[-1].key = data[position + 1 : end - 1].decode("utf-8", "replace")
            self._kept += data[position:end]
            return end
        kept = self._path() in self._spoken
        if not end:
            if len(data) - position <= SHORT_BYTES:
                return None  # it may yet be a short one
            self._kept += b'"'
            self._string = kept
            return position + 1
        self._kept += data[position:end] if kept or end - position <= SHORT_BYTES else b'""'
        self._value_ended()
        return end

    def _string_goes_on(self, data: bytes, plain: bytes, position: int) -> int | None:
        end = plain.find(b'"', position)
        closed = end >= 0
        if not closed:
            # An escape that the piece cuts in two waits for its second half.
            end = len(data) - plain.endswith(b"\\")
        if self._string:
            self._kept += data[position:end]
        if not closed:
            return end if end > position else None
        self._string = None
        if not self._dropped_depth:
            self._kept += b'"'
            self._value_ended()
        return end + 1

    def _open(self, byte: bytes) -> None:
        path = self._path()
        if path in self._open_paths:
            self._stack.append(_Container(path, is_object=byte == b"{"))
            self._kept += byte
        else:
            self._dropped_depth = 1
            self._kept += b"null"

    def _drop(self, data: bytes, plain: bytes, position: int) -> int:
        match = _DROPPED.match(plain, position)
        end = match.end() if match else position
        self._kept += b"\n" * data.count(b"\n", position, end)
        byte = data[end : end + 1]
        if byte == b'"':
            self._string = False
        elif byte and byte in b"{[":
            self._dropped_depth += 1
        elif byte:
            self._dropped_depth -= 1
            if not self._dropped_depth:
                self._value_ended()
        return end + len(byte)

    def _path(self) -> str:
        if not self._stack:
            return ""
        top = self._stack[-1]
        if not top.is_object:
            return top.path
        return f"{top.path}.{top.key}" if top.path else str(top.key)

    def _expects_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_object and self._stack[-1].key is None

    def _value_ended(self) -> None:
        if self._stack and self._stack[-1].is_object:
            self._stack[-1].key = None


def _leads(path: str) -> list[str]:
    """``a.b.c`` → ``a``, ``a.b``: the containers to look into for it."""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]
