"""Logs that their program has compressed (``.jsonl.zst``) → a stream of their plain bytes.

Zstandard comes with Python from 3.14 on, and as the package ``zstandard`` before.
"""

from __future__ import annotations

import io
import sys
from typing import BinaryIO, cast

if sys.version_info >= (3, 14):
    from compression import zstd

    DamagedArchive: type[Exception] = zstd.ZstdError
else:
    import zstandard

    DamagedArchive: type[Exception] = zstandard.ZstdError

_MAGIC = b"\x28\xb5\x2f\xfd"


def is_compressed(stream: BinaryIO) -> bool:
    """Whether a seekable stream holds Zstandard frames; leaves it at its start."""
    stream.seek(0)
    magic = stream.read(len(_MAGIC))
    stream.seek(0)
    return magic == _MAGIC


def decompressed(stream: BinaryIO) -> BinaryIO:
    """The plain bytes of a compressed stream, decompressed as they are read; not seekable.

    Reading it raises :data:`DamagedArchive` where the frames are broken.
    """
    if sys.version_info >= (3, 14):
        return cast(BinaryIO, _Forward(zstd.ZstdFile(stream)))
    reader = zstandard.ZstdDecompressor().stream_reader(
        stream, read_across_frames=True, closefd=False
    )
    return cast(BinaryIO, _Forward(reader))


class _Forward(io.BufferedReader):
    """A buffered reader that says that it cannot go back, which here would be slow."""

    def seekable(self) -> bool:
        return False
