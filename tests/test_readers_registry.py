"""Which reader a file goes to, by its source, its name and its first bytes."""

from __future__ import annotations

import pytest

from lancebrain.errors import UsageError
from lancebrain.readers import kind_of, read
from lancebrain.types import Document


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "md"),
        ("A.MARKDOWN", "md"),
        ("page.mdx", "md"),
        ("a.b.txt", "text"),
        ("server.LOG", "text"),
        ("book.rst", "text"),
        ("メモ.md", "md"),
        (".md", "md"),
        ("script.py", "text"),
        ("README", "text"),
        ("data.jsonl", None),
    ],
)
def test_without_a_kind_the_name_tells(name: str, kind: str | None) -> None:
    assert kind_of(name, b"", None) == kind


def test_a_source_of_one_kind_takes_what_is_named_like_it_and_of_text_anything() -> None:
    assert kind_of("a.md", b"", "md") == "md"
    assert kind_of("a.txt", b"", "md") is None
    assert kind_of("app.log.1", b"", "text") == "text"
    assert kind_of("a.md", b"", "text") == "text"


def test_an_unknown_kind_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="no reader of kind 'docx'"):
        read("a.docx", "docx", b"")


def test_plain_text_is_one_block_without_titles_or_tags() -> None:
    document = read("a.log", "text", b"# 1\n#tag [[x]]\n---\na: b\n---\n")
    assert isinstance(document, Document)
    assert [(block.start, block.kind) for block in document.blocks] == [(0, "text")]
    assert document.blocks[0].end == len(document.text)
    assert (document.title, document.tags, document.links, document.mime) == (
        "",
        (),
        (),
        "text/plain",
    )
