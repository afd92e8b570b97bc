"""A question as typed → what each leg of the search is given. Pure.

Three things in a question are meant to the letter: phrases in quotes, identifiers (``snake_case``,
``a.b.c``, paths, ``E0382``), and short words of scripts without spaces, where the tokenizer's
words and the person's may differ.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

from lancebrain.search.terms import UNSPACED, fold, terms_of

MAX_CHARS = 4_000
"""Of a question; what is beyond is not read."""

# What is longer is a sentence rather than a word to look up: looking through all texts for it
# would take long and find nothing.
_SHORT_CHARS = {"east_asian": 3, "hangul": 6, "south_east_asian": 12}
_MOST_SHORT_WORDS = 3
_QUOTED = regex.compile(r'"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]')
_UNREADABLE = regex.compile(r"[\p{Cc}\p{Cs}\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]+")
_SAYS_SOMETHING = regex.compile(r"[\p{L}\p{N}\p{So}]")
_WORD = regex.compile(rf"[^\s\"“”„,;!?(){{}}\[\]<>，。、；！？（）「」『』【】{UNSPACED}]+")
_IDENTIFIER = regex.compile(
    r"""  \w[\w-]*(?:(?:::|->|[_./\\:@\#])[\w-]+)+  # snake_case, a.b.c, src/x.py, std::move
        | _+\w+ | [./~@\#\\$-]+\w[\w./\\-]*       # led by a sign: __init__, .gitignore, --flag
        | \w+[+\#]+                               # C++, C#
        | \p{Lu}*\p{Ll}+\p{Lu}\w*                 # camelCase, PascalCase
        | \p{L}+\d\w* | \d+\p{L}\w*               # E0382, v2, 64bit
        | \w+(?:-\w+)*-\w*\d\w*(?:-\w+)*         # ADR-0007, 2026-03-12
    """,
    regex.VERBOSE,
)
_ORDINARY = regex.compile(r"\d+(?:st|nd|rd|th|s)|\p{L}\.\p{L}", regex.IGNORECASE)  # 19th, U.S.
_KATAKANA = regex.compile(r"[\p{Script=Katakana}ー]{2,}")
_HALF_WIDTH = {
    unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF66, 0xFFA0)
}
_UNSPACED_RUN = regex.compile(
    r"(?P<hangul>\p{Script=Hangul}+)"
    r"|(?P<east_asian>[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々〆]+)"
    rf"|(?P<south_east_asian>[{UNSPACED}][{UNSPACED}\p{{M}}]*)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, taken apart.

    Attributes:
        text: without quotes and unreadable characters; for the model.
        folded: ``text`` folded, white space collapsed; for the literal bonus.
        keywords: for the full text; phrases stand in ``"``.
        unquoted: ``keywords`` without the quotes, should no phrase be found.
        phrases: what was quoted.
        identifiers: words that are names in code, of files, of errors.
        short_words: of scripts without spaces, if there are few.
        terms: see :func:`~lancebrain.search.terms.terms_of`.
        clipped: the question was longer than is read.
    """

    text: str
    folded: str
    keywords: str
    unquoted: str
    phrases: tuple[str, ...]
    identifiers: tuple[str, ...]
    short_words: tuple[str, ...]
    terms: tuple[str, ...]
    clipped: bool

    @property
    def says_something(self) -> bool:
        """Whether there is a letter, a number or a pictograph in it."""
        return _SAYS_SOMETHING.search(self.text) is not None


def parse(typed: str) -> Question:
    """Take a question apart; any string will do."""
    clean = _UNREADABLE.sub(" ", typed[:MAX_CHARS])
    phrases = tuple(dict.fromkeys(p for p in map(_quoted, _QUOTED.finditer(clean)) if p))
    text = " ".join(_QUOTED.sub(lambda match: f" {_quoted(match)} ", clean).split())
    text = text.replace('"', " ").strip()
    rest = _QUOTED.sub(" ", clean).replace('"', " ")
    quoted = " ".join(f'"{phrase}"' for phrase in phrases)
    return Question(
        text=text,
        folded=collapsed(text),
        keywords=f"{quoted} {_both_widths(rest)}".strip(),
        unquoted=_both_widths(text),
        phrases=phrases,
        identifiers=_identifiers(rest),
        short_words=_short_words(text),
        terms=terms_of(text),
        clipped=len(typed) > MAX_CHARS,
    )


def collapsed(text: str) -> str:
    """Folded, with every run of white space as one space."""
    return " ".join(fold(text).split())


def occurs(phrase: str, text: str) -> bool:
    """Whether a collapsed phrase stands in a folded text; a line end does not part it."""
    if phrase in text or " " not in phrase:
        return phrase in text
    # Nearly always a word is missing, and the text need not be written anew to tell.
    return all(word in text for word in phrase.split()) and phrase in " ".join(text.split())


def _quoted(match: regex.Match[str]) -> str:
    inside = next(group for group in match.groups() if group is not None)
    return " ".join(inside.split()) if _SAYS_SOMETHING.search(inside) else ""


def _both_widths(text: str) -> str:
    """The words, and their other widths: the index keeps what the file has."""
    words = text.split()
    plain = (unicodedata.normalize("NFKC", word) for word in words)
    others = [other for word, other in zip(words, plain, strict=True) if other != word]
    narrow = map(_half_width, _KATAKANA.findall(unicodedata.normalize("NFKC", text)))
    return " ".join(dict.fromkeys([*words, *others, *narrow]))


def _half_width(katakana: str) -> str:
    """In the half-width forms, where a voiced sign stands on its own."""
    apart = unicodedata.normalize("NFD", katakana)
    return "".join(_HALF_WIDTH.get(char, char) for char in apart)


def _identifiers(text: str) -> tuple[str, ...]:
    words = (match[0].rstrip(".:-/") for match in _WORD.finditer(text))
    found = (word for word in words if _IDENTIFIER.fullmatch(word))
    return tuple(dict.fromkeys(word for word in found if not _ORDINARY.fullmatch(word)))


def _short_words(text: str) -> tuple[str, ...]:
    runs = list(_UNSPACED_RUN.finditer(unicodedata.normalize("NFKC", text)))
    if len(runs) > _MOST_SHORT_WORDS:
        return ()
    short = (run[0] for run in runs if len(run[0]) <= _SHORT_CHARS[str(run.lastgroup)])
    return tuple(dict.fromkeys(short))
