"""What LSA counts in a text: its words, and of scripts without spaces characters and their pairs.

A feature is the CRC-32 of its UTF-8, so that no word has to be kept. All is counted for many texts
at once, by arrays: one character after the other takes four times as long.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

UNSPACED = (
    r"\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々〆"
    r"\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}"
)
"""Scripts without spaces between words, as a part of a character class."""
_ALONE = regex.compile(f"[{UNSPACED}]")
_OF_WORDS = regex.compile(r"[\p{L}\p{N}\p{M}]")
_END = "\n"
"""Stands between texts, and in no word."""
_TEXTS_AT_ONCE = 128
"""What they need stays in the processor's cache; more are no quicker."""

_UNKNOWN, _OTHER, _OF_A_WORD, _BY_ITSELF = range(4)


class Counted(NamedTuple):
    """Features of some texts, by text and then by feature.

    Attributes:
        owners: (n,) the number of the text.
        features: (n,) each once a text.
        times: (n,) how often it is there.
    """

    owners: NDArray[np.intp]
    features: NDArray[np.uint32]
    times: NDArray[np.intp]


def count(texts: Sequence[str]) -> Counted:
    """Count the features of some texts."""
    parts = [
        _count(texts[at : at + _TEXTS_AT_ONCE], at) for at in range(0, len(texts), _TEXTS_AT_ONCE)
    ]
    return Counted(*map(np.concatenate, zip(*parts, strict=True))) if parts else _count([], 0)


def _count(texts: Sequence[str], first: int) -> Counted:
    folded = [unicodedata.normalize("NFKC", text).lower() for text in texts]
    joined = _END.join(folded) + _END
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    ends = np.cumsum([len(text) + len(_END) for text in folded], dtype=np.intp)
    classes = _classes_of(codes)
    of_words, alone = _words(joined, classes), _unspaced(codes, classes)
    places = np.concatenate((of_words[0], alone[0]))
    features = np.concatenate((of_words[1], alone[1]))
    owners = np.searchsorted(ends, places, side="right").astype(np.uint64)
    pairs, times = np.unique((owners << np.uint64(32)) | features, return_counts=True)
    numbers = (pairs >> np.uint64(32)).astype(np.intp) + first
    return Counted(numbers, (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32), times)


def _words(text: str, classes: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """The places and features of words in scripts that put spaces between them."""
    is_word = np.concatenate(([False], classes == _OF_A_WORD, [False]))
    starts, ends = np.flatnonzero(is_word[1:] != is_word[:-1]).reshape(-1, 2).T
    features = [
        zlib.crc32(text[start:end].encode("utf-8", "surrogatepass"))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    return starts, np.array(features, np.uint32)


def _unspaced(
    codes: NDArray[np.uint32], classes: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """The places and features of characters that are words by themselves, and of their pairs."""
    alone = np.flatnonzero(classes == _BY_ITSELF)
    state = _crc(codes[alone], np.full(len(alone), 0xFFFFFFFF, np.uint32))
    is_pair = np.diff(alone) == 1
    pairs = _crc(codes[alone[1:][is_pair]], state[:-1][is_pair])
    return np.concatenate((alone, alone[:-1][is_pair])), ~np.concatenate((state, pairs))


@cache
def _known_classes() -> NDArray[np.uint8]:
    """By code point, as far as they were met with: most texts have the same few thousand."""
    return np.zeros(0x110000, np.uint8)


def _classes_of(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    known = _known_classes()
    found = known[codes]
    for code in np.unique(codes[found == _UNKNOWN]).tolist():
        character = chr(code)
        if _ALONE.match(character):
            known[code] = _BY_ITSELF
        else:
            known[code] = _OF_A_WORD if _OF_WORDS.match(character) else _OTHER
    classes: NDArray[np.uint8] = known[codes]
    return classes


@cache
def _crc_table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, np.uint32(0xEDB88320) ^ (table >> 1), table >> 1)
    return table


def _crc(codes: NDArray[np.uint32], state: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The state of a CRC-32 (that of zlib, before it is inverted) after one more character of three
    or four bytes of UTF-8, as all are that are written without spaces."""
    is_long = codes >= 0x10000
    state = _after(state, np.where(is_long, 0xF0 | codes >> 18, 0xE0 | codes >> 12))
    if is_long.any():
        state = np.where(is_long, _after(state, 0x80 | codes >> 12 & 0x3F), state)
    state = _after(state, 0x80 | codes >> 6 & 0x3F)
    return _after(state, 0x80 | codes & 0x3F)


def _after(state: NDArray[np.uint32], byte: NDArray[np.integer[Any]]) -> NDArray[np.uint32]:
    following: NDArray[np.uint32] = _crc_table()[(state ^ byte) & 0xFF] ^ (state >> 8)
    return following
