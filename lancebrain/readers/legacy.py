"""Which encoding from before Unicode a file is in; asked by ``decode`` when UTF-8 fails.

Three families are told apart by how the bytes above 127 stand:

- alone between ASCII letters: a Latin code page;
- in pairs: Chinese, Japanese, Korean. Nearly any pair is valid in several of them, so each is
  tried and weighed by how everyday its characters would be;
- in words: Cyrillic, Greek, Hebrew, Arabic, Thai, where charset-normalizer is good.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_SAMPLE_BYTES = 32_768
_HIGH = bytes(range(0x80, 0x100))
_LONE_HIGH = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_WESTERN = frozenset(
    "àâäåæçèéêëíîïñòóôöøùúûüßœáãõÀÂÄÅÆÇÈÉÊËÍÎÏÑÒÓÔÖØÙÚÛÜŒÁÃÕ«»¿¡°§£€©®·…–—‘’“”„•×½²\u00a0"
)
_BESIDE_ASCII_LETTER = re.compile(r"(?<=[a-zA-Z])[À-þœŒ]|[À-þœŒ](?=[a-zA-Z])")
_SINGLE_BYTE = [
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp874",
    "iso8859_2",
    "koi8_r",
]

# The characters that running text is full of, about a third of it in each language.
_SIMPLIFIED = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
    "过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心"
    "本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由"
    "问很最重并物手应向头文体系统件安装命令程序数据网络电脑"
)
_TRADITIONAL = frozenset(
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年"
    "過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心"
    "本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由"
    "問很最重並物手應向頭文體系統檔案安裝程式資料網路電腦"
)
_KOREAN = frozenset(
    "이다는을의에가고하지한로도를은기사자어나리그서시인아대정으해있부수일전보게스들만과주장"
    "제상여와오원구라니동공면조위연선마유신각성방말할적경내되된것안때중요했습입세우비"
)
_KANA = frozenset(map(chr, [*range(0x3041, 0x30FF), 0x3001, 0x3002]))
_PUNCTUATION = frozenset("、。「」『』（）《》【】：；，！？“”‘’…—　·～")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A double-byte encoding.

    Attributes:
        codec: Python's name; the vendor's superset, since that is what files hold.
        standard: the codec whose lead byte tells the everyday plane of the character set.
        first, last: lead bytes of that plane.
        frequent: the characters that fill running text.
    """

    codec: str
    standard: str
    first: int
    last: int
    frequent: frozenset[str]


_CANDIDATES = (
    # On equal weight the first wins: the more particular claim stands before the wider one.
    _Candidate("cp932", "euc_jp", 0xB0, 0xCF, _KANA),
    _Candidate("euc_jp", "euc_jp", 0xB0, 0xCF, _KANA),
    _Candidate("cp949", "euc_kr", 0xB0, 0xC8, _KOREAN),
    _Candidate("cp950", "big5", 0xA4, 0xC6, _TRADITIONAL),
    _Candidate("gb18030", "gb2312", 0xB0, 0xD7, _SIMPLIFIED),
)
# Measured: right guesses weigh 1.1 and more, wrong ones up to 0.97 where a right one stands by.
_LEAST_WEIGHT = 0.95
_LEAST_HIGH_BYTES = 4  # fewer say nothing about a code page
_LEAST_COHERENCE = 0.2  # of charset-normalizer, 0 to 1: how much the letters fit a language


def guess(data: bytes) -> str | None:
    """The Python codec name of ``data``'s legacy encoding, or None when none is convincing."""
    sample = _sample(data)
    high = len(sample) - len(sample.translate(None, _HIGH))
    if not high:
        return None
    lone = len(_LONE_HIGH.findall(sample))
    if lone * 4 > high and _is_western(sample):
        return "cp1252"
    if lone * 2 > high:
        return _by_statistics(sample) if high >= _LEAST_HIGH_BYTES else None
    weights = {candidate.codec: _mean_weight(sample, candidate) for candidate in _CANDIDATES}
    best = max(weights, key=weights.__getitem__)
    return best if weights[best] >= _LEAST_WEIGHT else _by_statistics(sample)


def common_hanzi(text: str) -> int:
    """How many characters of ``text`` are among the most frequent ones of Chinese."""
    counts = Counter(text)
    return sum(counts[char] for char in _SIMPLIFIED | _TRADITIONAL)


def _sample(data: bytes) -> bytes:
    """The part around the first high byte, from a line start: a line end is never half a pair."""
    first = re.search(rb"[\x80-\xff]", data)
    if first is None:
        return b""
    earliest = max(0, first.start() - _SAMPLE_BYTES // 2)
    start = data.rfind(b"\n", earliest, first.start()) + 1 or earliest
    sample = data[start : start + _SAMPLE_BYTES]
    end = sample.rfind(b"\n")
    return sample[:end] if len(sample) == _SAMPLE_BYTES and end > first.start() - start else sample


def _is_western(sample: bytes) -> bool:
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    beyond_ascii = [char for char in text if char > "\x7f"]
    known = sum(char in _WESTERN for char in beyond_ascii)
    return known >= 0.9 * len(beyond_ascii) and _BESIDE_ASCII_LETTER.search(text) is not None


def _by_statistics(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    match = from_bytes(sample, cp_isolation=_SINGLE_BYTE, preemptive_behaviour=False).best()
    return match.encoding if match is not None and match.coherence >= _LEAST_COHERENCE else None


def _mean_weight(sample: bytes, candidate: _Candidate) -> float:
    """How everyday the characters beyond ASCII are: from -5 (invalid) to 2 (the frequent ones)."""
    counts = Counter(sample.decode(candidate.codec, "replace"))
    beyond_ascii = {char: n for char, n in counts.items() if char > "\x7f"}
    total = sum(beyond_ascii.values())
    weight = sum(n * _weight(char, candidate) for char, n in beyond_ascii.items())
    return weight / total if total else 0.0


def _weight(char: str, candidate: _Candidate) -> float:
    if char in candidate.frequent:
        return 2.0
    if char in _PUNCTUATION:
        return 1.0
    if char == "\ufffd":
        return -5.0
    try:
        lead = char.encode(candidate.standard)[0]
    except UnicodeEncodeError:
        return -1.0
    return 1.0 if candidate.first <= lead <= candidate.last else -0.5
