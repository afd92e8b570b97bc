"""A log's bytes → its records, line by line: what silent lines cost is a search for their end.

Three ways for a line, cheapest first: a format that surely knows it as silent (tool output,
bookkeeping) by its first bytes has it skipped unparsed; any other line is parsed; a line longer
than :data:`PIECE_BYTES` passes a :class:`~lancebrain.readers.sieve.Sieve` first. So memory holds
one piece and what was said, whatever the longest line.

Where a log is still being written, its last line may be half there. It is taken once it is a
whole JSON object, with or without its line end (an object that is whole stays the same whatever
follows), and waits until then: :attr:`LogLines.offset` stays before it.
"""

from __future__ import annotations

import enum
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

import orjson

from .sieve import Sieve

PIECE_BYTES = 1 << 18
"""Longest line that is held whole, and the size of what is read at once of a longer one."""

_BUFFER_BYTES = 1 << 20

Record = dict[str, Any]
Numbered = tuple[int, Record | None]
_BOM = b"\xef\xbb\xbf"
_TEXT_TOKEN = b'"text"'


class Verdict(enum.Enum):
    """What the first bytes of a line tell; in doubt, PARSE."""

    SILENT = enum.auto()
    """Surely nothing that people or the model said."""
    SILENT_WITHOUT_TEXT = enum.auto()
    """The speech of this line is in blocks of ``"type": "text"``, if there are any.

    Inside a JSON string every quote is escaped, so where the bytes ``"text"`` do not stand,
    there is no such block.
    """
    PARSE = enum.auto()


class LogLines:
    """Iterates over the records of a log that may hold speech, from ``offset`` on.

    Yields ``(line number, record)``; the record is None for a line that is not a JSON object.
    Numbers count from 1 at the start of the file.

    Args:
        stream: positioned anywhere; seekable if ``offset`` is not 0.
        classify: looks at a line's first bytes (up to :data:`PIECE_BYTES` of them).
        spoken: paths for the sieve.
        offset: bytes that were taken before.
        line_count: lines begun within them.
        unended: the last of them has no line end yet.

    Attributes:
        offset, line_count, unended: the same for what is taken by now.
        overwritten: the unended line went on with something else, so it was not whole.
    """

    def __init__(
        self,
        stream: BinaryIO,
        classify: Callable[[bytes], Verdict],
        spoken: frozenset[str],
        *,
        offset: int = 0,
        line_count: int = 0,
        unended: bool = False,
    ) -> None:
        self._stream: BinaryIO = stream
        self._classify = classify
        self._spoken = spoken
        self.offset = offset
        self.line_count = line_count
        self.unended = unended
        self.overwritten = False

    def __iter__(self) -> Iterator[Numbered]:
        buffer = io.BufferedReader(cast(io.RawIOBase, self._stream), _BUFFER_BYTES)
        stream, self._stream = self._stream, cast(BinaryIO, buffer)
        try:
            yield from self._lines()
        finally:
            buffer.detach()  # or it closes the stream
            self._stream = stream

    def _lines(self) -> Iterator[Numbered]:
        if self.offset:
            self._stream.seek(self.offset)
        if self.unended and not self._end_last_line():
            return
        while line := self._stream.readline(PIECE_BYTES):
            length, ended = len(line), line.endswith(b"\n")
            verdict = self._classify(line)
            if ended or length < PIECE_BYTES:
                speaks = verdict is Verdict.PARSE or (
                    verdict is Verdict.SILENT_WITHOUT_TEXT and _TEXT_TOKEN in line
                )
                record = parse(line) if speaks or not ended else None
            else:
                length, ended, speaks, record = self._take_long(line, verdict)
            if record is None and not ended:
                return  # half there
            self.offset += length
            self.line_count += 1
            self.unended = not ended
            if speaks and (record is not None or not line.isspace()):
                yield self.line_count, record

    def _end_last_line(self) -> bool:
        rest = self._stream.readline(PIECE_BYTES)
        if rest.strip():
            self.overwritten = True
        elif rest.endswith(b"\n"):
            self.offset += len(rest)
            self.unended = False
            return True
        return False

    def _take_long(self, head: bytes, verdict: Verdict) -> tuple[int, bool, bool, Record | None]:
        """Read a long line to its end: its length, whether it has ended, whether it may speak,
        and what its record says."""
        if verdict is Verdict.SILENT:
            length, ended, _ = self._skip(head)
            return length, ended, False, None
        if verdict is Verdict.SILENT_WITHOUT_TEXT and self._stream.seekable():
            place = self._stream.tell()
            length, ended, text = self._skip(head)
            if ended and not text:
                return length, True, False, None
            self._stream.seek(place)
        sieve = Sieve(self._spoken)
        length, ended, piece = 0, False, head
        while piece and not ended:
            sieve.feed(piece)
            length += len(piece)
            ended = piece.endswith(b"\n")
            piece = b"" if ended else self._stream.readline(PIECE_BYTES)
        return length, ended, True, parse(sieve.result())

    def _skip(self, head: bytes) -> tuple[int, bool, bool]:
        """Read to the line's end: its length, whether it has ended, whether a text block may be."""
        length, text, piece = 0, False, head
        before = b""
        while piece:
            length += len(piece)
            text = text or _TEXT_TOKEN in before + piece
            if piece.endswith(b"\n"):
                return length, True, text
            before = piece[-len(_TEXT_TOKEN) :]
            piece = self._stream.readline(PIECE_BYTES)
        return length, False, text


def parse(line: bytes) -> Record | None:
    """One line as a JSON object; None if it is none.

    Lone surrogate escapes (which JSON allows and UTF-8 does not) and bytes that are no UTF-8
    become U+FFFD; the fast parser refuses both, so such lines take a slower one.
    """
    try:
        value = orjson.loads(line.removeprefix(_BOM))
    except orjson.JSONDecodeError:
        try:
            value = _whole_characters(
                json.loads(line.removeprefix(_BOM).decode("utf-8", "replace"))
            )
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value
