"""What a note's file is to hold after a change: frontmatter, encoding and line ends kept. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from lancebrain.errors import UsageError


def new_note(title: str, text: str, tags: Sequence[str], *, as_text: bool) -> str:
    """The text of a new note.

    Args:
        text: one that brings its own frontmatter, or begins with a heading, is left as it is.
        as_text: no Markdown.
    """
    from lancebrain.readers import frontmatter

    body = text.strip("\n") + "\n"
    heading = " ".join(title.split())
    if as_text:
        return f"{heading}\n\n{body}"
    if frontmatter.find(body) is not None:
        return body
    if not body.startswith("# "):
        body = f"# {heading}\n\n{body}"
    return _frontmatter(heading, tags) + body if tags else body


def replaced(data: bytes, text: str) -> bytes:
    """A file's bytes with another text.

    Raises:
        UsageError: the file is no text, or its encoding cannot hold the new one.
    """
    from lancebrain.readers import frontmatter

    before, encoding = _decoded(data)
    head = frontmatter.find(before)
    kept = before[: head.end] if head is not None and frontmatter.find(text) is None else ""
    body = text if text.endswith("\n") or not text else text + "\n"
    if kept and not kept.endswith(("\n", "\r")):
        kept += "\n"
    if kept and before[len(kept) :].startswith(("\n", "\r")) and not body.startswith("\n"):
        body = "\n" + body
    return _encoded(kept + _with_line_ends(body, before), encoding)


def edited(data: bytes, old: str, new: str) -> bytes:
    """A file's bytes with one passage replaced; the rest stays as it is, byte for byte.

    Raises:
        UsageError: the passage does not occur exactly once.
    """
    before, encoding = _decoded(data)
    for wanted in dict.fromkeys((old, _with_line_ends(old, before))):
        count = before.count(wanted) if wanted else 0
        if count == 1:
            start = before.index(wanted)
            after = _with_line_ends(new, before)
            return _encoded(before[:start] + after + before[start + len(wanted) :], encoding)
        if count > 1:
            raise UsageError(
                f"The passage in old occurs {count} times.",
                hint="Give more of the text around it, so that it occurs once.",
            )
    raise UsageError(
        "The passage in old does not occur in the file.",
        hint="Copy it exactly from get_detail, white space included.",
    )


def _frontmatter(title: str, tags: Sequence[str]) -> str:
    import yaml

    about = {"title": title, "tags": list(tags)}
    return f"---\n{yaml.safe_dump(about, allow_unicode=True, sort_keys=False)}---\n\n"


def _decoded(data: bytes) -> tuple[str, str]:
    from lancebrain.readers.decode import decode

    decoded = decode(data)
    if decoded is None or not decoded.lossless:
        raise UsageError(
            "The file is in no encoding that can be written back exactly.",
            hint="Edit it with a program that knows it.",
        )
    return decoded.text, decoded.encoding


def _encoded(text: str, encoding: str) -> bytes:
    from lancebrain.readers.decode import encode

    try:
        return encode(text, encoding)
    except UnicodeEncodeError:
        raise UsageError(
            f"The file is in {encoding}, which lacks characters of the new text.",
            hint="Leave those out, or convert the file to UTF-8 first.",
        ) from None


def _with_line_ends(text: str, like: str) -> str:
    """The text with the line ends that most lines of another have."""
    plain = text.replace("\r\n", "\n")
    crlf = like.count("\r\n")
    if crlf and 2 * crlf > like.count("\n"):
        return plain.replace("\n", "\r\n")
    return plain
