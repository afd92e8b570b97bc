"""Markdown bytes → Document: headings, blocks, frontmatter, tags and links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lancebrain.readers import frontmatter
from lancebrain.readers.decode import decode, not_text, problems_of, raw_of
from lancebrain.readers.inline import CodeMap, links_in, plain_title, tags_in
from lancebrain.readers.structure import Part, structure_of
from lancebrain.types import Block, Document, Problem

_TAG_KEYS = ("tags", "tag", "keywords")
_WITHOUT_TAGS = frozenset({"frontmatter", "heading", "fence", "html"})


def read(path: str, kind: str, data: bytes) -> Document | Problem:
    """Read Markdown; a Problem ``not-text`` when it is binary.

    Headings are those of the outermost level: one in a quote, list, fence or comment is text.
    """
    decoded = decode(data)
    if decoded is None:
        return not_text(path)
    text = decoded.text
    problems = list(problems_of(decoded, path))
    head = frontmatter.find(text)
    if head is not None and head.error is not None:
        message = f"The frontmatter {head.error}; it is kept as text."
        problems.append(Problem(path, "frontmatter-invalid", message))
    body = head.end if head is not None else 0
    structure = structure_of(text, body)
    if structure.skipped:
        message = "A stretch without a place to part it is too long; it is taken as one paragraph."
        problems.append(Problem(path, "structure-skipped", message))
    starts = [part.start for part in structure.parts]
    code = CodeMap(text, structure.code, [0, *starts])
    blocks = tuple(_blocks(text, body, structure.parts, code)) if text.strip() else ()
    metadata = dict(head.values) if head is not None else {}
    document_tags = _document_tags(metadata)
    inline_tags = (tag for block in blocks for tag in block.tags)
    return Document(
        kind=kind,
        text=text,
        title=_title(metadata, blocks),
        blocks=blocks,
        encoding=decoded.encoding,
        mime="text/markdown",
        tags=tuple(dict.fromkeys([*document_tags, *inline_tags])),
        document_tags=document_tags,
        metadata=metadata,
        links=links_in(text, code),
        raw=raw_of(decoded, data),
        problems=tuple(problems),
    )


def _blocks(text: str, body: int, parts: Sequence[Part], code: CodeMap) -> Iterator[Block]:
    if body:
        yield Block(0, body if parts else len(text), "frontmatter")
    trail: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    shown = False
    for index, part in enumerate(parts):
        end = parts[index + 1].start if index + 1 < len(parts) else len(text)
        kind = part.kind
        if kind == "definitions":
            # Definitions that lead a file are its metadata by another name.
            kind = "paragraph" if shown else "frontmatter"
        else:
            shown = True
        if kind == "heading":
            trail = [outer for outer in trail if outer[0] < part.level]
            trail.append((part.level, plain_title(part.title)))
            path = tuple(title for _, title in trail if title)
        tags = () if kind in _WITHOUT_TAGS else tags_in(text, part.start, end, code)
        yield Block(part.start, end, kind, path, tags)


def _title(metadata: dict[str, object], blocks: Sequence[Block]) -> str:
    for word in frontmatter.as_list([metadata.get("title")]):
        if word:
            return plain_title(word)
    for block in blocks:
        if block.kind == "heading" and block.heading_path:
            return block.heading_path[-1]
    return ""


def _document_tags(metadata: dict[str, object]) -> tuple[str, ...]:
    words = (word for key in _TAG_KEYS for word in frontmatter.as_list(metadata.get(key)))
    return tuple(dict.fromkeys(tag for word in words if (tag := word.lstrip("#").strip())))
