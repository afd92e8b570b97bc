"""Bytes → text, first step of every reader; and the way back.

Order of evidence: a byte order mark, UTF-16 by its zero bytes, valid UTF-8, UTF-8 with a few
stray bytes, a legacy encoding (:mod:`lancebrain.readers.legacy`). What none of them explains is
not text.

NUL characters are dropped from the text: stores, models and terminals all stumble over them.
Such a file is not lossless, so its bytes are kept beside the text by the caller.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from lancebrain.readers import legacy
from lancebrain.types import Problem

_MAGIC = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"\x1f\x8b\x08",
    b"\x7fELF",
    b"SQLite format 3\x00",
    b"\xd0\xcf\x11\xe0",
)
# Tab, line ends, form feed, backspace and escape are at home in text and terminal logs.
_CONTROLS = bytes({*range(32), 0x7F} - set(b"\t\n\v\f\r\b\x1b"))
_MOST_CONTROLS = 0.02
_BOMS = (
    # A UTF-32 mark begins with the bytes of a UTF-16 one, so it is tried first.
    (codecs.BOM_UTF8, "utf-8", "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)
# What UTF-16 text is made of when it is not a misreading of single bytes: alphabets, CJK
# punctuation, kana, hangul, full-width forms; and what only a misreading has.
_AT_HOME_IN_UTF16 = re.compile(r"[\t\n\r -\u0fff\u3000-\u30ff\uac00-\ud7a3\uff00-\uffef]")
_FOREIGN_TO_UTF16 = re.compile(r"[\x00-\x08\ue000-\uf8ff\ufffd]")
_LEAST_AT_HOME = 0.35
_SAMPLE_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text and how it was stored.

    Attributes:
        text: without byte order mark and NULs; line ends as in the file.
        encoding: Python codec name; :func:`encode` with it is the way back.
        lossless: ``encode(text, encoding)`` gives the bytes again.
    """

    text: str
    encoding: str
    lossless: bool


def decode(data: bytes) -> Decoded | None:
    """The text of a file, or None when it is binary. Never raises.

    A byte that is invalid in an otherwise sound UTF-8 file becomes U+FFFD.
    """
    if data.startswith(_MAGIC):
        return None
    found = _by_mark(data) or _utf16_by_zeros(data) or _utf8_or_legacy(data)
    if found is None:
        return None
    text, encoding = found
    text = text.replace("\0", "")
    if _looks_binary(text):
        return None
    return Decoded(text, encoding, _gives_back(text, encoding, data))


def encode(text: str, encoding: str) -> bytes:
    """The inverse of :func:`decode`.

    Args:
        text: any text.
        encoding: as :class:`Decoded` names it. ``utf-8-sig``, ``utf-16`` and ``utf-32`` write
            a byte order mark; the latter two are little-endian on every machine.

    Raises:
        UnicodeEncodeError: the text has characters that the encoding lacks.
        LookupError: there is no such encoding.
    """
    if encoding == "utf-16":
        return codecs.BOM_UTF16_LE + text.encode("utf-16-le")
    if encoding == "utf-32":
        return codecs.BOM_UTF32_LE + text.encode("utf-32-le")
    return text.encode(encoding)


def raw_of(decoded: Decoded, data: bytes) -> bytes | None:
    """``Document.raw``: the bytes, where the chunks of the text cannot give them back."""
    return data if data and not (decoded.lossless and decoded.text.strip()) else None


def not_text(path: str) -> Problem:
    """The refusal of a file that :func:`decode` takes for binary."""
    return Problem(path, "not-text", "The file is binary, or in an encoding that is not known.")


def problems_of(decoded: Decoded, path: str) -> tuple[Problem, ...]:
    """What a person should know of the decoding: bytes that stand as U+FFFD."""
    if decoded.lossless or "\ufffd" not in decoded.text:
        return ()
    message = f"Some bytes are not valid {decoded.encoding}; each is shown as U+FFFD."
    return (Problem(path, "bytes-replaced", message),)


def _gives_back(text: str, encoding: str, data: bytes) -> bool:
    try:
        return encode(text, encoding) == data
    except UnicodeEncodeError:
        return False


def _by_mark(data: bytes) -> tuple[str, str] | None:
    for mark, codec, name in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace"), name
    return None


def _utf16_by_zeros(data: bytes) -> tuple[str, str] | None:
    """UTF-16 without a mark: it has zero bytes, and read so it is everyday text."""
    if 0 not in data:
        return None
    share, codec = max((_at_home_share(data, codec), codec) for codec in ("utf-16-be", "utf-16-le"))
    return (data.decode(codec, "replace"), codec) if share > _LEAST_AT_HOME else None


def _at_home_share(data: bytes, codec: str) -> float:
    sample = data[:_SAMPLE_BYTES].decode(codec, "replace")
    at_home = len(_AT_HOME_IN_UTF16.findall(sample)) + legacy.common_hanzi(sample)
    return (at_home - len(_FOREIGN_TO_UTF16.findall(sample))) / len(sample)


def _utf8_or_legacy(data: bytes) -> tuple[str, str] | None:
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    plain = data.replace(b"\0", b"")
    text = plain.decode("utf-8", "replace")
    stray = text.count("\ufffd") - plain.count("\ufffd".encode())
    sound = len(text) - len(plain.translate(None, bytes(range(0x80, 0x100)))) - stray
    if sound >= 4 * stray:
        return text, "utf-8"
    codec = legacy.guess(plain)
    if codec is not None:
        return plain.decode(codec, "replace"), codec
    # A stray byte or two in plain ASCII; more than that is something else.
    return (text, "utf-8") if stray <= max(1, len(plain) // 500) else None


def _looks_binary(text: str) -> bool:
    encoded = text.encode()
    controls = len(encoded) - len(encoded.translate(None, _CONTROLS))
    return controls > 2 + _MOST_CONTROLS * len(text)
