"""Plain text and logs → Document: one block, in which the chunker finds where to cut."""

from __future__ import annotations

from lancebrain.readers.decode import decode, not_text, problems_of, raw_of
from lancebrain.types import Block, Document, Problem


def read(path: str, kind: str, data: bytes) -> Document | Problem:
    """Read plain text; a Problem ``not-text`` when it is none."""
    decoded = decode(data)
    if decoded is None:
        return not_text(path)
    text = decoded.text
    return Document(
        kind=kind,
        text=text,
        title="",
        blocks=(Block(0, len(text), "text"),) if text.strip() else (),
        encoding=decoded.encoding,
        mime="text/plain",
        raw=raw_of(decoded, data),
        problems=problems_of(decoded, path),
    )
