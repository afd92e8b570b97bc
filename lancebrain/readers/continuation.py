"""How far a log was read, and whether a file still begins with what was read then."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from .loglines import LogLines

_HEAD_BYTES = 1 << 14
_TAIL_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Mark:
    """The place up to which a log was taken.

    Attributes:
        offset: in bytes; the half-written last line stays behind it.
        line_count: lines begun before it.
        unended: the last of them has no line end yet.
        file: number of the file on its device, None if it was none.
        digest: of the first and the last bytes before the offset.
    """

    offset: int
    line_count: int
    unended: bool
    file: int | None
    digest: str

    @classmethod
    def after(cls, stream: BinaryIO, lines: LogLines) -> Mark:
        """The place where ``lines`` has come to in ``stream``."""
        return cls(
            offset=lines.offset,
            line_count=lines.line_count,
            unended=lines.unended,
            file=_file_number(stream),
            digest=_digest_before(stream, lines.offset),
        )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Mark:
        """The inverse of ``dataclasses.asdict``."""
        return cls(**values)

    def is_kept_by(self, stream: BinaryIO) -> bool:
        """Whether the stream is as long, the same file, and has the same bytes before the mark.

        Compared are the ends of what was read, so this costs the same for any size. A file that
        was written anew has another number, one that was rewritten in place another length or
        other last bytes, unless someone takes pains to hide it.
        """
        if stream.seek(0, os.SEEK_END) < self.offset:
            return False
        number = _file_number(stream)
        if None not in (number, self.file) and number != self.file:
            return False
        return _digest_before(stream, self.offset) == self.digest


def _digest_before(stream: BinaryIO, offset: int) -> str:
    digest = hashlib.sha256()
    stream.seek(0)
    digest.update(stream.read(min(_HEAD_BYTES, offset)))
    stream.seek(max(0, offset - _TAIL_BYTES))
    digest.update(stream.read(min(_TAIL_BYTES, offset)))
    return digest.hexdigest()


def _file_number(stream: BinaryIO) -> int | None:
    try:
        return os.fstat(stream.fileno()).st_ino
    except OSError:  # bytes in memory have no number
        return None
