"""What a question's words are, and how many of them a chunk holds. Pure; used by the fusion.

Everything is compared *folded*: NFKC and lower case, so that full-width letters, half-width
kana and capitals make no difference.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import regex

MAX_TERMS = 64
"""Terms of a question that are counted; a pasted page need not be checked word by word."""

# Scripts that are written without spaces between words, or (Hangul) glue particles to them.
UNSPACED = (
    r"\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々〆"
    r"\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}"
)
_RUN = regex.compile(
    rf"(?P<unspaced>[{UNSPACED}][{UNSPACED}\p{{M}}]*)|(?:(?![{UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}])+"
)
# Pairs of these alone are grammar: Japanese endings and particles, and the Chinese characters
# that ask, point and join (什么, 哪个, 为了), simplified and traditional.
_GRAMMAR = regex.compile(
    r"[\p{Script=Hiragana}ー]+"
    "|[的了着著过過是在和与與及或有也就都很不之其以把被让讓给給对對从從向到为為上下中里裡时時候"
    "哪什么麼怎样樣多少几幾谁誰何吗嗎呢吧这這那个個些们們]+"
)

# English words that say nothing about what a text is about.
STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can could did do does doing down during each few for from
    further had has have having he her here hers herself him himself his how i if in into is it
    its itself just me more most my myself no nor not now of off on once only or other our ours
    ourselves out over own same she should so some such than that the their theirs them
    themselves then there these they this those through to too under until up very was we were
    what when where which while who whom whose why will with would you your yours yourself
    yourselves s t d ll re ve m
    """.split()  # noqa: SIM905 - a list of a hundred quoted words is no easier to read
)


def fold(text: str) -> str:
    """NFKC and lower case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).lower()


folded = lru_cache(maxsize=4_096)(fold)
"""The same of texts of candidates, of which a question goes through a few hundred, and the next one
mostly through the same."""


def terms_of(question: str) -> tuple[str, ...]:
    """The distinct terms of a question, folded, in order of appearance.

    Words of spaced scripts without English stop words; of unspaced scripts, the pairs of
    neighbouring characters without those that are grammar. A lone character is its own term. A
    question of stop words and grammar alone has these as its terms.
    """
    words: list[str] = []
    stopped: list[str] = []
    for match in _RUN.finditer(fold(question)):
        run = match[0]
        if match["unspaced"] is None:
            (stopped if run in STOP_WORDS else words).append(run)
        elif len(run) == 1:
            words.append(run)
        else:
            for pair in (run[at : at + 2] for at in range(len(run) - 1)):
                (stopped if is_grammar(pair) else words).append(pair)
    return tuple(dict.fromkeys(words or stopped))[:MAX_TERMS]


def is_grammar(term: str) -> bool:
    """Whether a Chinese or Japanese term is made of particles and endings alone."""
    return _GRAMMAR.fullmatch(term) is not None


def held(terms: Sequence[str], text: str) -> frozenset[str]:
    """Those of the terms that occur in a folded text."""
    return frozenset(term for term in terms if term in text)
