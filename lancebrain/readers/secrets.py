"""Keys, tokens and passwords in a text → ``[secret: kind]``, before the text is kept anywhere.

Two detectors. **Kingfisher** (package ``kingfisher-secret-scanner``) knows the tokens of some
four hundred services by form, checksum and entropy. Its rules of high confidence are used, on
this machine alone: it is asked to find, never to try a secret with its service. The named
patterns here add what those rules leave out or take only with a proof: key ids without their
secret, bearer tokens, passwords in URLs and in assignments to environment variables, key blocks
that were cut off, and the best-known prefixes whatever follows them looks like.

Compiling Kingfisher's rules takes seconds, once on a machine: they are kept compiled in the
user's cache folder. Loading them takes half a second, once in a process, at the first text that
could hold a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from .decode import decode

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

_Span = tuple[int, int, str]  # start, end, kind

_BATCH_CHARACTERS = 1 << 16
_CANDIDATE = re.compile(r"(?<![A-Za-z0-9_+=-])[A-Za-z0-9_+=-]{16}")
"""What every token has; Kingfisher is not loaded before a text has it."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

_START, _END = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
r"""What ``\b`` is for tokens: Japanese and Chinese letters, between which no space is written, are
word characters to ``\b``, and none to a token."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A named pattern; the group ``secret`` is what to mask, or else the whole match.

    Attributes:
        hints: one of them is in every text with a match; looking for them is cheap.
    """

    kind: str
    hints: tuple[str, ...]
    regex: re.Pattern[str]


_PATTERNS = (
    _Pattern(
        "private-key",
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:(?!-----BEGIN)[\s\S]){1,20000}?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})+)"
        ),
    ),
    _Pattern(
        "aws-access-key-id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        re.compile(r"(?<![A-Za-z0-9/+])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9/+])"),
    ),
    _Pattern(
        "aws-secret-access-key",
        ("ecret", "ECRET"),
        re.compile(
            r"(?i:aws_?secret(?:_?access)?_?key)[\"']?\s*[=:]\s*[\"']?"
            r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
    ),
    _Pattern(
        "github-token",
        ("gh", "github_pat_"),
        re.compile(_START + r"(?:gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    ),
    _Pattern("anthropic-api-key", ("sk-ant-",), re.compile(_START + r"sk-ant-[A-Za-z0-9_-]{20,}")),
    _Pattern(
        "api-key",
        ("sk-",),
        re.compile(_START + r"sk-(?:[a-z0-9]+-)?[A-Za-z0-9_-]*[A-Za-z0-9]{20}[A-Za-z0-9_-]*"),
    ),
    _Pattern("slack-token", ("xox",), re.compile(_START + r"xox[abeoprs]-[A-Za-z0-9-]{20,}")),
    _Pattern("npm-token", ("npm_",), re.compile(_START + r"npm_[A-Za-z0-9]{36}" + _END)),
    _Pattern(
        "sendgrid-api-key",
        ("SG.",),
        re.compile(_START + r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}" + _END),
    ),
    _Pattern(
        "telegram-bot-token",
        (":AA",),
        re.compile(_START + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}" + _END),
    ),
    _Pattern(
        "digitalocean-token", ("_v1_",), re.compile(_START + r"do[opr]_v1_[a-f0-9]{64}" + _END)
    ),
    _Pattern("xai-api-key", ("xai-",), re.compile(_START + r"xai-[A-Za-z0-9]{80}" + _END)),
    _Pattern(
        "jwt",
        ("eyJ",),
        re.compile(_START + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{16,}"),
    ),
    _Pattern(
        "bearer-token",
        ("earer",),
        re.compile(
            _START + r"[Bb]earer\s+(?P<secret>(?=[A-Za-z_.~+/-]*[0-9])[A-Za-z0-9_.~+/-]{20,}=*)"
        ),
    ),
    _Pattern(
        "url-password",
        ("://",),
        re.compile(
            _START + r"[a-z][a-z0-9+.-]*://[^\s/:@\"'<>`]*:(?P<secret>[^\s/@\"'<>`]{3,})@[\w\[]"
        ),
    ),
    _Pattern(
        "url-password",
        ("=",),
        re.compile(
            r"[?&](?i:password|passwd|pwd|token|access_token|auth_token|api_?key|client_secret)="
            r"(?P<secret>[^\s&#\"'<>`)]{6,})"
        ),
    ),
    _Pattern(
        "assigned-secret",
        ("PASSW", "SECRET", "TOKEN", "API_KEY", "APIKEY"),
        re.compile(
            _START
            + r"(?:[A-Z][A-Z0-9]*_)*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY)(?:_[A-Z0-9]+)*="
            r"[\"']?(?P<secret>(?=[^\s\"'`]*\d)[^\s\"'`;()]{8,})"
        ),
    ),
)

_HINTED = tuple((hint, pattern) for pattern in _PATTERNS for hint in pattern.hints)

MASKED = "; secrets=masked"
"""Parameter of the media type of a file that was read without its secrets."""

_PLACEHOLDER = re.compile(
    r"[<{\[$%*]|\.\.\.|…|x{4,}|(?:your|my|the|some|example|dummy|changeme|password|redacted)\b",
    re.IGNORECASE,
)
"""How the value of a password begins that only stands for one."""


def mask(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Put ``[secret: kind]`` in the place of every secret, in each text by itself.

    Returns:
        For each text what it is then, and how many secrets were masked.
    """
    masked: list[tuple[str, int]] = []
    for batch in _batches(texts):
        # Most texts hold no secret. What holds one shows also in all of them together, and one
        # call costs less than many.
        together = "\n\n".join(batch)
        patterns = {id(p): p for hint, p in _HINTED if hint in together}.values()
        by_rules = bool(_CANDIDATE.search(together) and _found_by_rules(together))
        masked += [_masked(text, patterns, by_rules=by_rules) for text in batch]
    return masked


def masked_file(data: bytes) -> tuple[bytes, int]:
    """A text file's bytes with every secret masked, in UTF-8 and as many lines; and how many.

    Bytes without a secret, or that are no text, are given back as they are.
    """
    decoded = decode(data)
    if decoded is None:
        return data, 0
    lines = "\n" if "\n" in decoded.text else "\r"
    text, count = _masked(decoded.text, _PATTERNS, by_rules=True, line_end=lines)
    return (text.encode("utf-8", "replace"), count) if count else (data, 0)


def no_mask(texts: Sequence[str]) -> list[tuple[str, int]]:
    """The texts as they are: what stands for :func:`mask` when masking is switched off."""
    return [(text, 0) for text in texts]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size > _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _masked(
    text: str, patterns: Iterable[_Pattern], *, by_rules: bool, line_end: str = ""
) -> tuple[str, int]:
    found = _found_by_name(text, patterns)
    if by_rules:
        found += _found_by_rules(text)
    if not found:
        return text, 0
    parts: list[str] = []
    place = count = 0
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        if start >= place:
            parts += [text[place:start], f"[secret: {kind}]"]
            count += 1
        if line_end:
            parts.append(line_end * text.count(line_end, max(place, start), end))
        place = max(place, end)
    return "".join([*parts, text[place:]]), count


def _found_by_name(text: str, patterns: Iterable[_Pattern]) -> list[_Span]:
    spans: list[_Span] = []
    for pattern in patterns:
        group = "secret" if "secret" in pattern.regex.groupindex else 0
        spans += [
            (*match.span(group), pattern.kind)
            for match in pattern.regex.finditer(text)
            if not (group and _PLACEHOLDER.match(match[group]))
        ]
    return spans


def _found_by_rules(text: str) -> list[_Span]:
    # Tokens are ASCII, and to the rules a letter beside one is a part of it, in any script. With a
    # byte for each character, the places of bytes are those of characters.
    plain = _NOT_ASCII.sub(" ", text).encode()
    return [
        (
            finding.location["start_offset"],
            finding.location["end_offset"],
            finding.rule_id.rpartition(".")[2],
        )
        for finding in _scanner().scan(plain)
        if finding.visible
    ]


@cache
def _scanner() -> Scanner:
    """Kingfisher's rules, compiled; the same for the life of a process."""
    from kingfisher_sdk import Rules, Scanner

    folder = user_cache_path("lancebrain", appauthor=False) / "secret-rules"
    return Scanner(Rules(confidence="high", cache_dir=str(folder)), base64=False)
