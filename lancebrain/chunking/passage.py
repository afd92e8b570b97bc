"""A chunk → what a model is given of it, and the hash of that.

A function of what its row in the index holds, for vectors are also filled in later. The later
rows of a long table come with its header. What says nothing to a model stays in the text and out
of here: the frontmatter's keys, data URIs and other Base64, HTML comments, the targets of links.

So two texts may have one hash: a link that now leads elsewhere needs its row written, and
nothing embedded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from lancebrain.chunking.packing import MOST_WIDTH
from lancebrain.chunking.width import cut_to_width
from lancebrain.readers import frontmatter
from lancebrain.types import Chunk

_MOST_TRAIL_WIDTH = 240
_MOST_HEADER_WIDTH = 240
_TELLING_KEYS = (
    "title",
    "subtitle",
    "description",
    "summary",
    "aliases",
    "alias",
    "tags",
    "tag",
    "keywords",
)
_HEADING_LINE = re.compile(r"^ {0,3}(?:#{1,6}[ \t]|=+[ \t]*$)", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*(?:[ \t]+\"[^\"\n]*\")?\)")
_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+[\w.+;=-]*,[^\s)\"'<>]*")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{100,}={0,2}")
_WORD = re.compile(r"\w")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n){2,}")
_GAP = re.compile(r"[^\S\n]{8,}")


def embedding_text(
    kind: str, heading_path: Sequence[str], text: str, table_header: str = ""
) -> str:
    """What a model is given of a chunk: its heading trail, a blank line, its words.

    Never blank unless ``text`` is: where nothing is left of the text, the trail stands alone,
    and without a trail the text as it is, cut to the greatest width of a chunk.
    """
    trail = cut_to_width(" > ".join(heading_path), _MOST_TRAIL_WIDTH).strip()
    body = _telling(kind, heading_path, text)
    if not _WORD.search(body):
        return trail or cut_to_width(text.strip(), MOST_WIDTH)
    if table_header:
        body = f"{cut_to_width(table_header, _MOST_HEADER_WIDTH)}\n{body}"
    return f"{trail}\n\n{body}" if trail else body


def embedding_text_of(kind: str, chunk: Chunk) -> str:
    """:func:`embedding_text` of a chunk of a document of this kind."""
    return embedding_text(kind, chunk.heading_path, chunk.text, chunk.table_header)


def chunk_hash(embedding_text: str) -> str:
    """SHA-256 in hex of what a model is given."""
    return sha256(embedding_text.encode("utf-8", "surrogatepass")).hexdigest()


def _telling(kind: str, heading_path: Sequence[str], text: str) -> str:
    if kind == "md":
        text = _with_frontmatter_told(heading_path, text)
        if "<!--" in text:
            text = _COMMENT.sub("", text)
        if "](" in text:
            text = _LINK_TARGET.sub("]", text)
    if "data:" in text:
        text = _DATA_URI.sub("", text)
    if _has_a_stretch_without_spaces(text):
        text = _BASE64.sub("", text)
    if "        " in text:
        text = _GAP.sub(" ", text)
    if "\n\n\n" in text:
        text = _BLANK_LINES.sub("\n\n", text)
    return text.strip()


def _has_a_stretch_without_spaces(text: str) -> bool:
    """Whether Base64 is possible: a run of 100 characters fills one of these stretches of 50."""
    return any(" " not in text[start : start + 50] for start in range(0, len(text) - 49, 50))


def _with_frontmatter_told(heading_path: Sequence[str], text: str) -> str:
    """A leading frontmatter gives way to the values of the keys that tell what the note is.

    In a chunk under a heading it stands before that heading; else it is YAML or JSON that the
    note is about, in a long fence that was cut there.
    """
    if not text.startswith(("---", "+++", "{")):
        return text
    head = frontmatter.find(text)
    if head is None or head.error is not None:
        return text
    if heading_path and not _HEADING_LINE.search(text, head.end):
        return text
    lines = []
    for key in _TELLING_KEYS:
        value = head.values.get(key)
        if isinstance(value, str):
            lines.append(value.strip())
        elif value is not None:
            lines.append(", ".join(frontmatter.as_list(value)))
    return "\n".join([*filter(None, lines), "", text[head.end :]])
