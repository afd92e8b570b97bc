"""Markdown → headings, blocks, tags and links, and never a word lost."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.readers import read, structure
from lancebrain.types import Block, Document

LINES = [
    "",
    "",
    "# One",
    "### Three #",
    "####### seven",
    "Title",
    "===",
    "---",
    "text",
    "  text",
    "    code",
    "- a",
    "  - b",
    "    - c",
    "2. x",
    "* * *",
    "> q",
    ">> - q",
    "```",
    "~~~ x",
    "<div>",
    "</div>",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "| a | b |",
    "|---|---|",
    "[r]: u",
    "[r]:",
    "\ttab",
    "　全角",
    "- ",
    "+ x\x0b y\u2028",
]


def markdown(text: str) -> Document:
    document = read("notes/a.md", "md", text.encode())
    assert isinstance(document, Document)
    assert_tiled(document)
    return document


def assert_tiled(document: Document) -> None:
    if not document.text.strip():
        assert document.blocks == ()
        return
    assert document.blocks[0].start == 0
    assert document.blocks[-1].end == len(document.text)
    assert all(before.end == after.start for before, after in pairwise(document.blocks))
    assert all(block.start < block.end for block in document.blocks)


def blocks(text: str) -> list[tuple[str, str]]:
    document = markdown(text)
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def headings(text: str) -> list[tuple[str, ...]]:
    return [block.heading_path for block in markdown(text).blocks if block.kind == "heading"]


def block_with(text: str, words: str) -> Block:
    document = markdown(text)
    at = document.text.index(words)
    return next(block for block in document.blocks if block.start <= at < block.end)


CODE = """\
# Set up

```sh
# comment in a shell script
```

~~~python
```
# still code, the tilde fence is open
~~~

````md
```
# inner fence
```
# four ticks
````

    # indented code

<!--
# commented out
-->

Inline ``` # no fence ``` here.

## Tune

1. step

   ```yaml
   # in a list
   ```

## Finish

Done.
"""


def test_a_hash_in_code_or_a_comment_is_no_heading() -> None:
    assert headings(CODE) == [("Set up",), ("Set up", "Tune"), ("Set up", "Finish")]
    assert block_with(CODE, "four ticks").heading_path == ("Set up",)
    assert block_with(CODE, "in a list").heading_path == ("Set up", "Tune")


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    assert headings("# A\n\n```\n# b\n\n# c\n") == [("A",)]


def test_levels_may_be_skipped_and_titles_repeat() -> None:
    assert headings("One\n===\n\nTwo\n---\n\n#### Four ####\n\n# One\n\n## Two\n") == [
        ("One",),
        ("One", "Two"),
        ("One", "Two", "Four"),
        ("One",),
        ("One", "Two"),
    ]


def test_seven_hashes_and_a_hash_without_space_are_text() -> None:
    assert headings("####### seven\n\n#nospace\n") == []


def test_an_empty_heading_ends_a_section_and_names_none() -> None:
    assert block_with("# A\n\n## B\n\n##\n\nhere\n", "here").heading_path == ("A",)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("`code` and **bold** [link](x.md) \\# end #", "code and bold link # end"),
        ("[[Target|shown]] and [[Plain]]", "shown and Plain"),
        ("Vec<T> of <b>things</b>", "Vec<T> of things"),
        ("Attributes {#custom-id}", "Attributes"),
        ("![alt](a.png) ~~old~~ &amp; new", "alt old & new"),
        ("<https://example.org/%ED%A0%BD>", "https://example.org/%ED%A0%BD"),
        ("  spaced   out  ", "spaced out"),
        ("日本語 の *見出し*", "日本語 の 見出し"),
        ("x" * 300, "x" * 199 + "…"),
    ],
)
def test_a_title_is_plain_words(source: str, title: str) -> None:
    assert headings(f"# {source}\n") == [(title,)]


def test_blocks_tile_the_text_and_blank_lines_go_with_the_block_before() -> None:
    assert blocks("\n\nWords\nmore\n\n- a\n  - b\n\n    more\n- c\n\n> q\n\n***\n") == [
        ("paragraph", "\n\nWords\nmore\n\n"),
        ("list_item", "- a\n"),
        ("list_item", "  - b\n\n    more\n"),
        ("list_item", "- c\n\n"),
        ("paragraph", "> q\n\n"),
        ("paragraph", "***\n"),
    ]
    assert [kind for kind, _ in blocks("| a |\n|---|\n| 1 |\n\n<p>\nx\n</p>\n\n```\ny\n```\n")] == [
        "table",
        "html",
        "fence",
    ]


def test_link_definitions_are_a_paragraph_and_at_the_head_of_a_file_metadata() -> None:
    assert [kind for kind, _ in blocks("[#]: author\n\n# T\n\nText[1].\n\n[1]: http://a.b\n")] == [
        "frontmatter",
        "heading",
        "paragraph",
        "paragraph",
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_kind_part_lines(line_end: str) -> None:
    text = "# A\n\ntext\n\n## B\n\n- c\n- d\n".replace("\n", line_end)
    assert headings(text) == [("A",), ("A", "B")]
    assert [kind for kind, _ in blocks(text)].count("list_item") == 2


def test_other_separators_of_unicode_part_no_lines() -> None:
    for separator in "\x0b\x0c\x1c\x85\u2028\u2029":
        assert headings(f"words{separator}# words\n") == []


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (
            "#tag and #タグ, #nested/tag and (#no) #123 #2024/05 a#b #v2\n",
            ("tag", "タグ", "nested/tag", "v2"),
        ),
        ("# Heading #not\n", ()),
        ("```\n#not\n```\n\n    #not\n\n- item\n\n  ```\n  #not\n  ```\n", ()),
        ("`#not` ``#not ` #not`` #yes ` #yes2\n", ("yes", "yes2")),
        ("http://x.y/#not [a](#not) <span style='color: #not'> &#not;\n", ()),
        ("这是，#标签、#另一个/标签 好\n", ("标签", "另一个/标签")),
        ("#ไทยคำ #trailing/ #-dash-\n", ("ไทยคำ", "trailing", "dash")),
        ("- #in/list\n\n> #quoted\n", ("in/list", "quoted")),
    ],
)
def test_inline_tags(text: str, tags: tuple[str, ...]) -> None:
    assert markdown(text).tags == tags


def test_a_block_knows_its_own_tags_and_the_document_all() -> None:
    document = markdown("---\ntags: [x]\n---\n\n#a one\n\n#b two #x\n")
    assert document.tags == ("x", "a", "b")
    assert document.document_tags == ("x",)
    assert [block.tags for block in document.blocks] == [(), ("a",), ("b", "x")]


def test_links_are_gathered_as_written_once_each_and_not_from_code() -> None:
    text = (
        "[[Note#Part|shown]] ![[pic.png]] [a](b.md) [c](<d e.md> 'title') ![i](j(k).png)\n"
        "<https://x.y/z> `[[not]]` [a](b.md) [e]\n\n```\n[[not]] [x](not.md)\n```\n\n"
        "[e]: http://e.f/g 'h'\n[^1]: a footnote\n![d](data:image/png;base64,AAAA)\n"
    )
    assert markdown(text).links == (
        "Note#Part",
        "pic.png",
        "b.md",
        "d e.md",
        "j(k).png",
        "https://x.y/z",
        "http://e.f/g",
    )


MIX = """\
# Mix

- a
  - b
    - c
      - d swift-deep
        on swift-on

        paragraph swift-paragraph
- [ ] todo swift-todo
1) paren swift-paren

> [!warning]- Folded swift-title
> body
>> nested swift-nested

<details><summary>Sum swift-sum</summary>

## In details

Hidden swift-hidden.

</details>

==mark swift-mark==, %%comment%%, ^block-id. Footnote[^1].

$$
swift_math
$$

```mermaid
graph TD; A[swift-node] --> B
```

[^1]: note swift-foot
"""


def test_no_construct_loses_its_words() -> None:
    assert "".join(text for _, text in blocks(MIX)) == MIX
    assert block_with(MIX, "swift-deep") == block_with(MIX, "swift-paragraph")
    assert block_with(MIX, "swift-hidden").heading_path == ("Mix", "In details")


@given(st.lists(st.sampled_from(LINES), max_size=40), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_markdown_is_tiled(lines: list[str], line_end: str) -> None:
    markdown(line_end.join(lines))


@given(st.text(alphabet="#-*+>`~<![](){}|:=_\\ \t\n\rab1.&;日　\u0301", max_size=120))
def test_any_characters_are_tiled(text: str) -> None:
    markdown(text)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(LINES), max_size=60), st.integers(1, 40))
def test_parsing_in_pieces_gives_what_parsing_at_once_gives(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    whole = structure.structure_of(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structure, "_PIECE_CHARS", size)
        pieces = structure.structure_of(text)
    assert pieces == whole


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        "`" * 300_000,
        " ".join("`" * (i % 300 + 1) for i in range(2000)),
        "](" * 100_000,
        "<a " * 100_000,
        "[[a" * 100_000,
        " #a" * 100_000,
        "# " + "*a " * 50_000,
        "# " + "[" * 900,
        ">" * 10_000 + "a",
        "- " * 10_000 + "a",
        "".join("  " * depth + "- a\n" for depth in range(600)),
        "".join(">" * depth + " a\n" for depth in range(600)),
        "> > > > > > > > a\n" + "lazy\n" * 3_000,
        "<!-- \n\n" * 5_000,
        "[a\n" * 5_000,
        "a" + "\n" * 300_000 + "b",
        "word " * 60_000,
    ],
    ids=lambda text: text[:12].encode("unicode_escape").decode(),
)
def test_hostile_markdown_takes_bounded_time(text: str) -> None:
    started = time.process_time()
    markdown(text)
    assert time.process_time() - started < 10


def test_a_stretch_that_cannot_be_parted_is_one_paragraph_and_reported() -> None:
    document = markdown("# A\n\n" + "> - a\n" * 120_000 + "\n# B\n")
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "heading"]
    assert [problem.code for problem in document.problems] == ["structure-skipped"]
