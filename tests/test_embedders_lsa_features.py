"""What is counted of a text: that it is the same however many texts are counted at once."""

from __future__ import annotations

import unicodedata
import zlib
from collections import Counter

import hypothesis.strategies as st
import regex
from hypothesis import example, given

from lancebrain.embedders.lsa_features import count

ALONE = regex.compile(
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々〆"
    r"\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]"
)
OF_A_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]")
SOME = "aBé1 ½ﬁ_-.\n\u0301漢字かなカﾞー々𠮷𠀀กำລາကមΣς\U0001f600\ud800"


def counted_plainly(text: str) -> Counter[int]:
    """One character after the other, as the module says."""
    words: list[str] = []
    run = before = ""
    for character in unicodedata.normalize("NFKC", text).lower():
        if ALONE.match(character):
            words += [run, character, before + character if before else ""]
            run, before = "", character
        else:
            before = ""
            is_of_a_word = OF_A_WORD.match(character)
            words += [] if is_of_a_word else [run]
            run = run + character if is_of_a_word else ""
    words.append(run)
    return Counter(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words if word)


def counted(texts: list[str]) -> list[Counter[int]]:
    found: list[Counter[int]] = [Counter() for _ in texts]
    for owner, feature, times in zip(*(part.tolist() for part in count(texts)), strict=True):
        found[owner][feature] += times
    return found


@given(st.lists(st.text(st.one_of(st.sampled_from(SOME), st.characters()), max_size=40)))
@example([])
@example(["", "", "漢", ""])
@example(["東京" * 400, "tokyo " * 400] * 100)
def test_features_are_words_and_characters_and_pairs_of_scripts_without_spaces(
    texts: list[str],
) -> None:
    assert counted(texts) == [counted_plainly(text) for text in texts]


def test_no_pair_or_word_goes_from_one_text_into_the_next() -> None:
    assert counted(["漢", "字"]) == [counted_plainly("漢"), counted_plainly("字")]
    assert counted(["half", "way"]) == [counted_plainly("half"), counted_plainly("way")]


def test_features_stand_by_text_and_each_once_a_text() -> None:
    owners, features, times = count(["b a b", "", "a"])
    assert owners.tolist() == [0, 0, 2]
    assert features[:2].tolist() == sorted({zlib.crc32(b"a"), zlib.crc32(b"b")})
    assert sorted(times.tolist()) == [1, 1, 2]
