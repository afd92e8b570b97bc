"""What two texts share, and which words tell one group of texts from the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import regex

from lancebrain.search.terms import STOP_WORDS, UNSPACED, fold, is_grammar

_WORDS_A_PART = 3
_CHARS_A_PART = 4
_LONG_WORD_CHARS = 12  # on average: then there are no spaces to speak of

_KEYWORDS = 8
_LONGEST_TERM = 4
_SAME_TERM = 0.7
_SEEN_IN = 3
# Chinese characters stand in long runs without spaces; Japanese words in katakana do not.
_WORD = regex.compile(
    rf"(?P<han>[\p{{Script=Han}}々〆]+)|[\p{{Script=Katakana}}ー]+|\p{{Script=Hangul}}+"
    rf"|(?:(?![{UNSPACED}])[\p{{L}}\p{{M}}])(?:(?![{UNSPACED}])[\p{{L}}\p{{M}}\p{{N}}_'’-])+"
)
_MARKUP = regex.compile(
    r"\A(---|\+\+\+)\r?\n.*?\n\1|`{3}.*?`{3}|https?://\S+|\]\([^)\s]*\)|<[^<>]{1,200}>", regex.S
)


def shared_share(one: str, other: str) -> float:
    """The share of common parts (Jaccard) of two texts, from 0 to 1.

    A part is three words, or four characters where no spaces part the words.
    """
    if one == other:
        return 1.0
    first, second = _parts(fold(one)), _parts(fold(other))
    common = len(first & second)
    return round(common / max(1, len(first) + len(second) - common), 4)


def _parts(text: str) -> frozenset[str]:
    words = text.split()
    if len(text) > _LONG_WORD_CHARS * len(words):
        squeezed = "".join(words)
        last = max(1, len(squeezed) - _CHARS_A_PART + 1)
        return frozenset(squeezed[at : at + _CHARS_A_PART] for at in range(last))
    last = max(1, len(words) - _WORDS_A_PART + 1)
    return frozenset(" ".join(words[at : at + _WORDS_A_PART]) for at in range(last))


def keywords(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """The words of each group of texts that tell it from the others, the most telling first.

    A word counts for the number of the group's texts that hold it, times the logarithm of how
    much greater its share is there than in all texts. Chinese and Japanese words are found as
    characters that keep together.
    """
    held = [_held(texts) for texts in groups]
    everywhere: Counter[str] = Counter()
    for counts in held:
        everywhere.update(counts)
    total = sum(map(len, groups))
    return [
        _most_telling(counts, len(texts), everywhere, total)
        for counts, texts in zip(held, groups, strict=True)
    ]


def _most_telling(
    counts: Counter[str], texts: int, everywhere: Counter[str], total: int
) -> list[str]:
    least = min(_SEEN_IN, max(1, texts // 2))
    alone = texts == total
    scores = {
        word: count * (1 if alone else math.log(count * total / (everywhere[word] * texts)))
        for word, count in counts.items()
        if count >= least
    }
    chosen: list[str] = []
    for word in sorted(scores, key=lambda word: (-scores[word], word)):
        if len(chosen) == _KEYWORDS or scores[word] <= 0:
            break
        if not any(word in other or other in word for other in chosen):
            chosen.append(word)
    return chosen


def _held(texts: Iterable[str]) -> Counter[str]:
    """In how many texts each word occurs."""
    words: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    for text in texts:
        found = list(_WORD.finditer(fold(_MARKUP.sub(" ", text))))
        han = [match[0] for match in found if match["han"] is not None]
        words.update({match[0].rstrip("'’-_") for match in found if match["han"] is None})
        runs.update(
            {
                run[at : at + length]
                for run in han
                for length in range(2, _LONGEST_TERM + 1)
                for at in range(len(run) - length + 1)
            }
        )
    kept = {word: n for word, n in words.items() if len(word) > 2 and word not in STOP_WORDS}
    return Counter(kept | _terms(runs))


def _terms(runs: Counter[str]) -> dict[str, int]:
    """Those of the runs of characters that are likely to be words."""
    dropped: set[str] = set()
    for run, count in runs.items():
        for part in (run[1:], run[:-1]) if len(run) > 2 else ():
            if count >= _SAME_TERM * runs[part]:
                dropped.add(part)  # hardly occurs without the rest
            else:
                dropped.add(run)  # is a word with something before or after it
    return {
        run: count
        for run, count in runs.items()
        if run not in dropped and count > 1 and not _is_loose(run)
    }


def _is_loose(run: str) -> bool:
    """Whether it begins or ends with a particle, and so is a piece of a sentence."""
    return is_grammar(run[0]) or is_grammar(run[-1])
