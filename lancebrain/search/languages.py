"""How well does the model speak the question's language? Told by script, with no guessing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import regex

# Script → (name for people, ISO 639-1 codes of languages written in it). Latin is left out: it
# does not tell one language from another.
_SCRIPTS: tuple[tuple[str, str, frozenset[str]], ...] = tuple(
    (script, name, frozenset(codes.split()))
    for script, name, codes in (
        ("Hiragana", "Japanese", "ja"),
        ("Katakana", "Japanese", "ja"),
        ("Hangul", "Korean", "ko"),
        ("Han", "Chinese or Japanese", "zh ja"),
        ("Thai", "Thai", "th"),
        ("Arabic", "Arabic script", "ar fa ur ps ug sd ku"),
        ("Cyrillic", "Cyrillic script", "ru uk be bg sr mk kk ky mn tg"),
        ("Greek", "Greek", "el"),
        ("Hebrew", "Hebrew", "he yi"),
        ("Devanagari", "Devanagari script", "hi mr ne sa"),
        ("Bengali", "Bengali", "bn as"),
        ("Tamil", "Tamil", "ta"),
        ("Telugu", "Telugu", "te"),
        ("Gujarati", "Gujarati", "gu"),
        ("Gurmukhi", "Punjabi", "pa"),
        ("Kannada", "Kannada", "kn"),
        ("Malayalam", "Malayalam", "ml"),
        ("Sinhala", "Sinhala", "si"),
        ("Georgian", "Georgian", "ka"),
        ("Armenian", "Armenian", "hy"),
        ("Ethiopic", "Ethiopic script", "am ti"),
        ("Khmer", "Khmer", "km"),
        ("Lao", "Lao", "lo"),
        ("Myanmar", "Burmese", "my"),
        ("Tibetan", "Tibetan", "bo dz"),
    )
)
_LETTER = regex.compile(r"\p{L}")
_LEAST_SHARE = 0.1
"""Of the letters of a question."""
_PATTERNS = tuple(
    (regex.compile(rf"\p{{Script={script}}}"), name, codes) for script, name, codes in _SCRIPTS
)


def share(question: str, languages: Mapping[str, float]) -> float:
    """How much of a model's usual say it has in the answer to this question.

    Args:
        languages: see :class:`lancebrain.embedders.base.Embedder`.

    Returns:
        0 to 1; 0 for what is written in none of them.
    """
    if not languages:
        return 1.0
    return min(
        (
            max((languages.get(code, 0.0) for code in codes), default=0.0)
            for _, codes in _scripts_of(question)
        ),
        default=1.0,
    )


def unspoken(question: str, languages: Iterable[str]) -> str | None:
    """What the question is written in, if no language of the model is written so.

    Args:
        languages: ISO 639-1 codes the model was trained on; none means unknown.

    Returns:
        A name for people, such as ``Hebrew``, or None when the model can be expected to cope.
    """
    spoken = frozenset(languages)
    if not spoken:
        return None
    for name, codes in _scripts_of(question):
        if not spoken & codes:
            return name
    return None


def _scripts_of(question: str) -> Iterator[tuple[str, frozenset[str]]]:
    """What the question is written in: not what a sign or a name in it is, such as π or kΩ."""
    letters = len(_LETTER.findall(question))
    for pattern, name, codes in _PATTERNS:
        own = len(pattern.findall(question))
        if own and (own == letters or (own > 1 and own >= _LEAST_SHARE * letters)):
            yield name, codes
